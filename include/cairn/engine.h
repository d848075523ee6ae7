// cairn inside your own process: open a store, deploy definitions, start instances, answer tasks and
// signals, do the work of `worker` calls, wait for results.
//
//   cairn::EngineOptions options;
//   options.store = "sqlite:orders.db";
//   auto opened = cairn::Engine::open(options);
//   if (!opened) return fail(opened.error().message);
//   cairn::Engine& engine = **opened;
//   engine.handle("billing.charge.v1", [](const cairn::Work& work) { return charge(work.payload); });
//   engine.run();
//   if (auto name = engine.deploy_file("order.yaml"); !name) return fail(name.error().message);
//   cairn::StartOrder order;
//   order.definition = "order";
//   auto started = engine.start(order);
//   if (started) auto result = engine.wait(started->instance, std::chrono::seconds(30));
//
// Every call is durable when it returns, and safe from several threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "instance/failure.h"
#include "instance/snapshot.h"

namespace cairn {

class Clock;
class Coordinator;
class Store;
class Transport;

// How long what has ended is kept. Absent: for ever.
struct KeepFor {
  std::optional<Duration> completed;  // instances, by how they ended
  std::optional<Duration> failed;
  std::optional<Duration> cancelled;
  std::optional<Duration> runs;    // finished runs without an instance
  std::optional<Duration> outbox;  // published events
  std::optional<Duration> keys;    // idempotency keys
};

// How a node takes what is due for instances: messages and timers.
struct Receiving {
  std::size_t batch = 1024;  // at a time
  int attempts = 1;          // of one that the store refuses to write; then it is given up
  bool dead_letters = true;  // what is given up is kept for an operator; otherwise it is only logged
};

struct EngineOptions {
  std::string store = "memory:";  // memory: or sqlite:PATH
  std::string node = "node";      // a name for people; made unique per process
  Json config = Json::object();   // `config` in expressions
  Limits limits;
  KeepFor keep;
  std::chrono::milliseconds retention_every = std::chrono::hours(1);
  bool strict_definitions = true;  // refuse to open with a stored definition that does not compile
  Receiving receiving;
  std::size_t workers = 4;  // threads for handlers
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // Where calls may go besides https to public addresses: networks (10.0.0.0/8) and origins (http://HOST[:PORT]).
  std::vector<std::string> egress;
  std::string ca_file;                         // PEM: authorities that calls trust besides the system's
  std::map<std::string, std::string> secrets;  // for secret("name"), sent and never stored
  std::map<std::string, std::vector<std::string>> secret_hosts;  // where each of them may be sent; none: anywhere
  bool environment_secrets = true;                               // CAIRN_SECRET_NAME as well
  std::vector<std::shared_ptr<Transport>> transports;            // further ones, for `call: {NAME: …}`
  Json events;  // what is written about life cycles, and where events go: {source, keep, sinks} (docs/events.md)
  Clock* clock = nullptr;  // absent: the system's; must outlive the engine
};

// Who asks. Without roles they are not checked.
struct Person {
  std::string name = "operator";
  std::optional<std::vector<std::string>> roles;
};

struct StartOrder {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest
  Json input = Json::object();
  std::optional<Reference> reference;
  std::string id;               // empty: a new one
  std::string idempotency_key;  // empty: none
  Person by;
  std::string traceparent = {};  // W3C: a trace that the instance goes on with; without one it is a trace of its own
};

// An instance as it stood at some moment.
struct InstanceState {
  InstanceId instance;
  Status status = Status::running;
  std::uint64_t version = 0;
  Json output;                   // of a completed one
  std::optional<Failure> error;  // of a failed, cancelled or suspended one
  bool repeated = false;         // an earlier request with the same key did it
};

struct OpenTaskView {
  TaskId id;
  InstanceId instance;
  std::string name;
  std::string title;
  std::string assignee;
  std::vector<std::string> roles;
  Json payload;
  std::uint64_t version = 0;
};

// One attempt at a `worker` call. `idempotency_key` is the same for every attempt.
struct Work {
  RunId run;
  std::string type;
  std::string idempotency_key;
  Json payload;
  int attempt = 1;
  int attempts_max = 1;
  std::stop_token stop;                // asked for when the run was cancelled or its lease is lost
  std::optional<InstanceId> instance;  // that waits for it
  std::string trace;                   // the caller's, W3C; empty: the instance is a trace of its own

  // W3C: the instance's trace, a span for this attempt. Made when it is asked for: it takes two hashes.
  std::string traceparent() const;
};
struct WorkDone {
  Json result;
  std::optional<Failure> failure;
  bool retry = true;  // false: trying again is no use
  std::optional<Duration> retry_after;

  WorkDone(Json value) : result(std::move(value)) {}
  WorkDone(Failure why) : failure(std::move(why)) {}
};
using WorkHandler = std::function<WorkDone(const Work&)>;

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Definitions: YAML or JSON. ErrorCode::invalid lists what is wrong, one line each; conflict when the
  // version is taken by other content.
  Result<std::string> deploy(std::string_view text, const std::string& file = "definition");
  Result<std::string> deploy_file(const std::string& path);

  // Before `run`.
  void handle(const std::string& type, WorkHandler handler);
  // Called for each instance that has ended, once that is durable, from a thread of the engine: it must be quick and
  // must not call the engine. Before the first request.
  void on_ended(std::function<void(const InstanceId&)> told);
  // Before `run`: gives events of the outbox as CloudEvents to a function of this process, those whose type begins
  // with one of `types`, or all. True: it has taken the event; else it comes again later. In order for each subject.
  Result<void> subscribe(const std::string& name, const std::vector<std::string>& types,
                         std::function<bool(const Json& cloud_event)> handler);
  // Begins to fire timers, deliver messages and execute handlers, on threads of its own. Without it
  // the engine only moves when it is asked, and `settle` does what is due.
  void run();
  void run_until_idle();
  // The clock was moved: looks at what has become due.
  void look_again();
  // Finishes what is under way. Called by the destructor too. A handler or callback may call it: then it only begins
  // to stop, and the destructor waits for the end.
  // Calls that are under way have `grace` to be answered; an attempt without an answer has failed.
  static constexpr std::chrono::milliseconds stop_grace{5000};
  void stop(std::chrono::milliseconds grace = stop_grace);

  Result<InstanceState> start(const StartOrder& order);
  // The same for programs with many requests under way: `done` is called once, from this thread or one of the
  // engine's, when it is durable. It must be quick; it may ask again this way, and must call nothing else here: the
  // engine may be waiting for it. What it throws is logged.
  using Done = std::function<void(Result<InstanceState>)>;
  void start(const StartOrder& order, Done done);
  void signal(const InstanceId& id, const std::string& name, const Json& payload, Done done);
  Result<InstanceState> find(const InstanceId& id);
  // Once it has ended or is suspended, or as it is when the time is over.
  Result<InstanceState> wait(const InstanceId& id, std::chrono::milliseconds limit);

  Result<InstanceState> signal(const InstanceId& id, const std::string& name, const Json& payload, const Json& key = {},
                               const std::string& signal_id = {});
  // To everybody who waits for name and key; kept for `ttl` when nobody does. How many it went to.
  Result<std::size_t> broadcast(const std::string& name, const Json& key, const Json& payload,
                                Duration ttl = Duration::of_seconds(86'400), const std::string& signal_id = {});

  Result<std::vector<OpenTaskView>> tasks(const std::optional<InstanceId>& instance = {});
  Result<InstanceState> complete(const TaskId& task, const Json& payload, const Person& by,
                                 const std::string& idempotency_key = {});

  Result<InstanceState> cancel(const InstanceId& id, const std::string& reason, const Person& by = {});
  Result<InstanceState> suspend(const InstanceId& id, const std::string& reason, const Person& by = {});
  Result<InstanceState> resume(const InstanceId& id, const Person& by = {});
  Result<InstanceState> retry(const InstanceId& id, const Person& by = {});
  Result<InstanceState> skip(const InstanceId& id, const Json& result, const Person& by = {});
  Result<InstanceState> edit(const InstanceId& id, const Json& merge_patch, const Person& by = {});

  // The layers below, for programs that need more than this page.
  Store& store();
  Coordinator& coordinator();

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn
