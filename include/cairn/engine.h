// Runs cairn inside your own process: open a store, deploy definitions, start instances, complete tasks, send signals,
// execute `worker` calls and wait for results. Read Engine::open, Engine::run and Engine::start first.
//
//   cairn::EngineOptions options;
//   options.store = "sqlite:orders.db";
//   auto opened = cairn::Engine::open(options);
//   if (!opened) return fail(opened.error().message);
//   cairn::Engine& engine = **opened;
//   engine.handle("billing.charge.v1", [](const cairn::Work& work) { return charge(work.payload); });
//   engine.run();
//   if (auto name = engine.deploy_file("order.yaml"); !name) return fail(name.error().message);
//   cairn::StartRequest request;
//   request.definition = "order";
//   auto started = engine.start(request);
//   if (started) auto result = engine.wait(started->instance, std::chrono::seconds(30));
//
// Every call is durable when it returns. All calls are safe from several threads.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "cairn/keep_for.h"
#include "cairn/requests.h"
#include "cairn/work.h"

namespace cairn {

class Clock;
class EngineCore;
class Sink;
class Store;
class Transport;
struct Definition;

// How a node processes due messages and timers.
struct Receiving {
  std::size_t batch = 1024;  // items per batch
  int attempts = 1;          // attempts if the store refuses the write; then the item is given up
  bool dead_letters = true;  // true: keep given-up items for an operator; false: only log them
};

struct EngineOptions {
  std::string store = "memory:";  // memory: or sqlite:PATH
  std::string node = "node";      // a name for people; made unique per process
  Json config = Json::object();   // `config` in expressions
  Limits limits;
  KeepFor keep;
  std::chrono::milliseconds retention_every = std::chrono::hours(1);
  // For keep.audit: the folder that gets the exports of the audit trail, and the PEM text of the Ed25519 private key
  // that signs them.
  std::string audit_folder;
  std::string audit_signing_key;
  bool strict_definitions = true;  // refuse to open with a stored definition that does not compile
  Receiving receiving;
  std::size_t workers = 4;  // threads for handlers
  std::chrono::milliseconds lease = std::chrono::seconds(30);
  // Allowed targets of calls besides https to public addresses: networks (10.0.0.0/8) and origins (http://HOST[:PORT]).
  std::vector<std::string> egress;
  std::string ca_file;                         // PEM: certificate authorities to trust besides the system's
  std::map<std::string, std::string> secrets;  // for secret("name"), sent and never stored
  std::map<std::string, std::vector<std::string>> secret_hosts;  // hosts that may receive each; none: any host
  bool environment_secrets = true;                               // CAIRN_SECRET_NAME as well
  std::vector<std::shared_ptr<Transport>> transports;  // additional ones, for `call: {NAME: …}`: cairn/transport.h
  Json events;             // which life cycle events are written and where they go: {source, keep, sinks}
  Clock* clock = nullptr;  // absent: the system clock; must outlive the engine
};

struct OpenTaskView {
  TaskId id;
  InstanceId instance;
  std::string name;
  std::string title;
  std::string assignee;
  std::vector<std::string> roles;
  Json payload;
  std::uint64_t state_version = 0;
};

class Engine {
 public:
  static Result<std::unique_ptr<Engine>> open(EngineOptions options);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Deploys a definition in YAML or JSON. ErrorCode::invalid lists the errors, one per line; conflict if the version
  // exists with other content.
  Result<std::string> deploy(std::string_view text, const std::string& file = "definition");
  Result<std::string> deploy_file(const std::string& path);
  // Deploys a definition that was built in C++ (cairn/definition.h).
  Result<std::string> deploy(const Definition& definition);

  // Registers a handler. Call it before `run`.
  void handle(const std::string& type, WorkHandler handler);
  // Called for each ended instance, after the end is durable. It runs on a thread of the engine, so it must be quick
  // and must not call the engine. Set it before the first request.
  void on_ended(std::function<void(const InstanceId&)> told);
  // Delivers events of the outbox as CloudEvents to a function of this process: those whose type begins with one of
  // `types`, or all. The function returns true to accept the event; otherwise the event is delivered again later.
  // Events of one subject arrive in order. Call it before `run`.
  Result<void> subscribe(const std::string& name, const std::vector<std::string>& types,
                         std::function<bool(const Json& cloud_event)> handler);
  // The same with a destination that gets several events at a time (cairn/sink.h).
  Result<void> add_sink(std::unique_ptr<Sink> sink);
  // Starts threads that fire timers, deliver messages and execute handlers. Without it the engine works only inside
  // calls, and `run_until_idle` processes what is due.
  void run();
  void run_until_idle();
  // Checks for due work after the clock was moved.
  void look_again();
  // Stops after finishing the running work. The destructor calls it too. If a handler or callback calls it, it only
  // starts the stop, and the destructor waits for the end. Running calls have `grace` to be answered; an attempt
  // without an answer counts as failed.
  static constexpr std::chrono::milliseconds stop_grace{5000};
  void stop(std::chrono::milliseconds grace = stop_grace);

  Result<InstanceAnswer> start(const StartRequest& request);
  // The same for programs with many concurrent requests. `done` is called once, from this thread or an engine thread,
  // when the result is durable. It must be quick. It may make further requests of this kind but must not call anything
  // else here, because the engine may be waiting for it. Exceptions from it are logged.
  using Done = std::function<void(Result<InstanceAnswer>)>;
  void start(const StartRequest& request, Done done);
  void signal(const InstanceId& id, const std::string& name, const Json& payload, Done done);
  Result<InstanceAnswer> find(const InstanceId& id);
  // Answers when the instance has ended or is suspended, or with its current state after `limit`.
  Result<InstanceAnswer> wait(const InstanceId& id, std::chrono::milliseconds limit);

  Result<InstanceAnswer> signal(const InstanceId& id, const std::string& name, const Json& payload,
                                const Json& key = {}, const std::string& signal_id = {});
  // Sends a signal to every instance that waits for name and key, and answers how many received it. If there is none,
  // the signal is kept: for `ttl`, else as a definition says, else for ever.
  Result<std::size_t> broadcast(const std::string& name, const Json& key, const Json& payload,
                                std::optional<Duration> ttl = {}, const std::string& signal_id = {});

  Result<std::vector<OpenTaskView>> tasks(const std::optional<InstanceId>& instance = {});
  Result<InstanceAnswer> complete(const TaskId& task, const Json& payload, const Actor& actor,
                                  const std::string& idempotency_key = {});

  Result<InstanceAnswer> cancel(const InstanceId& id, const std::string& reason, const Actor& actor = {});
  Result<InstanceAnswer> suspend(const InstanceId& id, const std::string& reason, const Actor& actor = {});
  Result<InstanceAnswer> resume(const InstanceId& id, const Actor& actor = {}, const std::string& reason = {});
  // A call that is retried keeps its idempotency key unless `new_key` is set.
  Result<InstanceAnswer> retry(const InstanceId& id, const Actor& actor = {}, const std::string& reason = {},
                               bool new_key = false);
  Result<InstanceAnswer> skip(const InstanceId& id, const Json& result, const Actor& actor = {},
                              const std::string& reason = {});
  Result<InstanceAnswer> edit(const InstanceId& id, const Json& merge_patch, const Actor& actor = {},
                              const std::string& reason = {});

  // The layers below, for programs that need more than this interface.
  Store& store();
  EngineCore& core();

 private:
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace cairn
