#include "cairn/engine.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "instance/carried_trace.h"
#include "instance/trace_id.h"
#include "node/foreign_call.h"
#include "node/loops.h"
#include "node/worker_pool.h"
#include "outbox/event_outlet.h"
#include "schedule/schedules.h"
#include "store/open.h"
#include "transport/transports.h"
#include "upkeep/retention.h"

namespace cairn {

namespace {

// The store and the receivers of events get this long at a stop, even if nothing is left of its grace period.
constexpr std::chrono::milliseconds store_grace_min{1000};
constexpr std::chrono::milliseconds receivers_grace_min{1000};
// Longer times exceed the range of the clock: `milliseconds::max()` from now would be in the past.
constexpr std::chrono::milliseconds wait_max = std::chrono::hours(24) * 365 * 100;

// Without its transport, a call would wait for a worker that never comes.
Result<void> check_transports(DefinitionStore& store, const Transports& transports, bool strict) {
  std::vector<std::string> names = transports.names();
  std::sort(names.begin(), names.end());
  std::string listed;
  for (const std::string& name : names) listed += (listed.empty() ? "" : ", ") + name;
  listed += " and worker";
  PageRequest page;
  do {
    CAIRN_TRY(const Page<DefinitionRow> rows, store.list_definitions(page));
    for (const DefinitionRow& row : rows.items) {
      const Json& needed = row.canonical["requires"]["transports"];
      if (!needed.is_array()) continue;
      for (const Json& name : needed.items()) {
        if (!name.is_string() || name.as_string() == "worker") continue;
        if (std::find(names.begin(), names.end(), name.as_string()) != names.end()) continue;
        const std::string message = "definition " + row.name + " " + row.version + " requires the transport " +
                                    std::string(name.as_string()) +
                                    ", which is not registered; registered transports: " + listed;
        if (strict) return Error{ErrorCode::unsupported, message};
        log_warning("definitions.transport_missing", {{"message", message}});
      }
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return {};
}

// Empty: audit rows stay.
Result<std::optional<AuditArchive>> audit_archive(const EngineOptions& options) {
  if (options.audit_folder.empty() && !options.keep.audit) return std::optional<AuditArchive>();
  if (options.audit_folder.empty() || options.audit_signing_key.empty()) {
    return Error{ErrorCode::invalid,
                 "audit rows are exported before they are removed: set both the folder of the exports "
                 "(audit.export_folder) and the key that signs them (audit.signing_key)"};
  }
  if (::access(options.audit_folder.c_str(), W_OK | X_OK) != 0) {
    return Error{ErrorCode::invalid, options.audit_folder + ": the exports of the audit trail cannot be written here"};
  }
  CAIRN_TRY(Ed25519PrivateKey key, Ed25519PrivateKey::from_pem(options.audit_signing_key));
  return std::optional(AuditArchive{options.audit_folder, std::move(key)});
}

}  // namespace

// Built in this order and destroyed in reverse.
struct Engine::Parts {
  ForwardClock system_clock;
  std::unique_ptr<Store> store;
  std::unique_ptr<EngineCore> core;
  std::unique_ptr<Transports> transports;
  Limits limits;
  std::unique_ptr<node::WorkerPool> workers;
  std::unique_ptr<EventOutlet> outlet;
  std::unique_ptr<node::Loops> loops;
  std::unique_ptr<RetentionLoop> retention;
  bool running = false;

  void stop(std::chrono::milliseconds grace);

  std::mutex stop_mutex;
  std::mutex stopper_mutex;
  std::jthread stopper;  // runs the stop that a handler requested and that must wait for this handler
};

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Engine::~Engine() { parts_->stop(stop_grace); }

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
  auto parts = std::make_unique<Parts>();
  Clock& clock = options.clock != nullptr ? *options.clock : parts->system_clock;
  CAIRN_TRY(parts->store, open_store(options.store, clock));
  CAIRN_TRY(const EventSettings events, read_event_settings(options.events));
  parts->store->keep_events(events.keep);
  CoreOptions inner;
  inner.node = options.node;
  inner.config = options.config;
  inner.limits = parts->limits = options.limits;
  inner.strict_definitions = options.strict_definitions;
  inner.due_batch = std::max<std::size_t>(1, options.receiving.batch);
  inner.refused_attempts = options.receiving.attempts;
  inner.dead_letters = options.receiving.dead_letters;
  inner.event_source = events.source;
  CAIRN_TRY(inner.audit_archive, audit_archive(options));
  CAIRN_TRY(parts->core, EngineCore::open(*parts->store, inner));
  attach_schedules(*parts->core);
  CAIRN_TRY(EgressPolicy egress, EgressPolicy::make(options.egress));
  Secrets secrets = options.environment_secrets ? Secrets::from_environment() : Secrets();
  for (const auto& [name, value] : options.secrets) {
    const auto hosts = options.secret_hosts.find(name);
    secrets.put(name, {value, hosts == options.secret_hosts.end() ? std::vector<std::string>() : hosts->second});
  }
  HttpSurroundings surroundings;
  surroundings.ca_file = options.ca_file;
  if (!options.ca_file.empty() && !std::ifstream(options.ca_file)) {
    return Error{ErrorCode::invalid, options.ca_file + ": cannot read the certificate authorities"};
  }
  CAIRN_TRY(parts->outlet, EventOutlet::open(*parts->store, events, egress, parts->core->node(), surroundings));
  parts->transports = std::make_unique<Transports>(std::move(egress), std::move(secrets), HttpLimits(), surroundings);
  for (const auto& transport : options.transports) CAIRN_TRY_VOID(parts->transports->add(transport));
  CAIRN_TRY_VOID(check_transports(*parts->store, *parts->transports, options.strict_definitions));
  parts->workers =
      std::make_unique<node::WorkerPool>(*parts->core, options.workers, Duration::of_ms(options.lease.count()));
  for (Transport* transport : parts->transports->all()) parts->workers->carry(*transport);
  node::WorkerPool* workers = parts->workers.get();
  LeaseWaiters* waiters = &parts->core->leasing().waiters();
  EventOutlet* outlet = parts->outlet.get();
  parts->loops = std::make_unique<node::Loops>(*parts->core, [workers, waiters, outlet] {
    workers->look();
    waiters->look();
    outlet->look();
  });
  node::Loops* loops = parts->loops.get();
  parts->core->listeners().on_wakeup([workers, loops, outlet](const Wakeup& wakeup) {
    loops->wake(wakeup);
    if (wakeup.runs) workers->look();
    if (wakeup.outbox) outlet->look();
  });
  parts->retention = std::make_unique<RetentionLoop>(*parts->core, policy_of(options.keep), options.retention_every);
  return std::unique_ptr<Engine>(new Engine(std::move(parts)));
}

Result<std::string> Engine::deploy(std::string_view text, const std::string& file) {
  const std::vector<std::string> transports = parts_->transports->names();
  const Definition definition = load_definition(text, file, parts_->limits, transports);
  if (!definition.valid()) {
    std::string message;
    for (const Diagnostic& diagnostic : definition.diagnostics) {
      if (diagnostic.severity != Diagnostic::Severity::error) continue;
      if (!message.empty()) message += "\n";
      message += format_diagnostic(file, diagnostic);
    }
    return Error{ErrorCode::invalid, message};
  }
  CAIRN_TRY_VOID(cairn::deploy(*parts_->core, definition.program));
  return definition.program->name + " " + definition.program->version;
}

Result<std::string> Engine::deploy(const Definition& definition) {
  if (!definition.valid()) return Error{ErrorCode::invalid, "the definition has errors"};
  CAIRN_TRY_VOID(cairn::deploy(*parts_->core, definition.program));
  return definition.program->name + " " + definition.program->version;
}

Result<std::string> Engine::deploy_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::not_found, path + ": cannot be read"};
  std::ostringstream text;
  text << file.rdbuf();
  return deploy(text.str(), path);
}

void Engine::handle(const std::string& type, WorkHandler handler) {
  parts_->workers->handle(type, [handler = std::move(handler)](const RunRow& run, const std::stop_token& stop) {
    Carried carried = without_trace(run.payload);
    WorkDone done = handler({run.id, run.type, run.idempotency_key, std::move(carried.value), run.attempt,
                             run.attempts_max, stop, run.instance, std::move(carried.traceparent)});
    return node::HandlerAnswer{std::move(done.result), std::move(done.failure), done.retry, done.retry_after};
  });
}

void Engine::on_ended(std::function<void(const InstanceId&)> told) {
  parts_->core->listeners().on_ended(
      [told = std::move(told)](const InstanceId& id) { node::call_back("on_ended", [&] { told(id); }); });
}

Result<void> Engine::subscribe(const std::string& name, const std::vector<std::string>& types,
                               std::function<bool(const Json& cloud_event)> handler) {
  return parts_->outlet->subscribe(name, types, [handler = std::move(handler)](const Json& event) {
    bool taken = false;
    node::call_back("subscribe", [&] { taken = handler(event); });
    return taken;
  });
}

Result<void> Engine::add_sink(std::unique_ptr<Sink> sink) { return parts_->outlet->add(std::move(sink)); }

void Engine::run() {
  if (parts_->running) return;
  parts_->running = true;
  parts_->core->due().resume_interrupted_slices();
  parts_->retention->start();
  parts_->workers->start();
  parts_->loops->start();
  parts_->outlet->start();
}

void Engine::look_again() {
  Wakeup everything;
  everything.messages = true;
  everything.due = Timestamp{};
  parts_->loops->wake(everything);
}

void Engine::run_until_idle() {
  cairn::run_until_idle(*parts_->core);
  if (parts_->running) return;
  if (auto published = parts_->outlet->drain(); !published) log_error("outbox.failed", published.error());
}

void Engine::stop(std::chrono::milliseconds grace) {
  grace = std::min(grace, wait_max);
  if (!node::ForeignCall::here()) return parts_->stop(grace);
  const std::lock_guard lock(parts_->stopper_mutex);
  if (parts_->stopper.joinable()) return;
  parts_->stopper = std::jthread([parts = parts_.get(), grace] { parts->stop(grace); });
}

void Engine::Parts::stop(std::chrono::milliseconds grace) {
  const std::lock_guard lock(stop_mutex);
  const auto ends = std::chrono::steady_clock::now() + grace;
  // Stop the producers of work first, then the workers, then the writer. A database that does not answer delays each of
  // them by its share of the grace period at most: the store closes its connections then.
  core->store().stop_waiting(std::max(grace / 2, store_grace_min));
  retention->stop();
  loops->stop();
  outlet->stop_sending();  // its receivers answer while the calls of the workers end
  workers->stop(grace);
  transports->stop();
  core->stop();
  workers->give_back_late();
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(ends - std::chrono::steady_clock::now());
  outlet->stop(std::max(left, receivers_grace_min));
}

Result<InstanceAnswer> Engine::start(const StartRequest& request) { return parts_->core->instances().start(request); }

void Engine::start(const StartRequest& request, Done done) {
  parts_->core->instances().start(
      request, [done = std::move(done)](auto answer) { node::call_back("start", [&] { done(std::move(answer)); }); });
}

Result<InstanceAnswer> Engine::find(const InstanceId& id) {
  CAIRN_TRY(const auto snapshot, parts_->store->find_snapshot(id));
  if (!snapshot) return Error{ErrorCode::not_found, "no instance " + id.value};
  return answer_of(*snapshot);
}

Result<InstanceAnswer> Engine::wait(const InstanceId& id, std::chrono::milliseconds limit) {
  CAIRN_TRY(const Snapshot rested, parts_->core->instances().wait_for(id, std::min(limit, wait_max)));
  return answer_of(rested);
}

Result<InstanceAnswer> Engine::signal(const InstanceId& id, const std::string& name, const Json& payload,
                                      const Json& key, const std::string& signal_id) {
  return parts_->core->instances().signal(id, {signal_id, name, key, payload, {}});
}

void Engine::signal(const InstanceId& id, const std::string& name, const Json& payload, Done done) {
  parts_->core->instances().signal(id, {{}, name, {}, payload, {}}, [done = std::move(done)](auto answer) {
    node::call_back("signal", [&] { done(std::move(answer)); });
  });
}

Result<std::size_t> Engine::broadcast(const std::string& name, const Json& key, const Json& payload,
                                      std::optional<Duration> ttl, const std::string& signal_id) {
  CAIRN_TRY(const SignalOutcome outcome,
            parts_->core->instances().broadcast(SignalRequest{signal_id, name, key, payload, {}, ttl}));
  return outcome.delivered.size();
}

Result<std::vector<OpenTaskView>> Engine::tasks(const std::optional<InstanceId>& instance) {
  TaskFilter filter;
  filter.instance = instance;
  std::vector<OpenTaskView> views;
  PageRequest page;
  do {
    CAIRN_TRY(const Page<TaskRow> rows, parts_->store->list_tasks(filter, page));
    for (const TaskRow& row : rows.items) {
      views.push_back(
          {row.id, row.instance, row.name, row.title, row.assignee, row.roles, row.payload, row.state_version});
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return views;
}

Result<InstanceAnswer> Engine::complete(const TaskId& task, const Json& payload, const Actor& actor,
                                        const std::string& idempotency_key) {
  return parts_->core->tasks().complete({task, payload, std::nullopt, idempotency_key, actor});
}

Result<InstanceAnswer> Engine::cancel(const InstanceId& id, const std::string& reason, const Actor& actor) {
  return parts_->core->instances().request(id, CancelRequested{reason}, actor);
}
Result<InstanceAnswer> Engine::suspend(const InstanceId& id, const std::string& reason, const Actor& actor) {
  return parts_->core->instances().request(id, SuspendRequested{reason}, actor);
}
Result<InstanceAnswer> Engine::resume(const InstanceId& id, const Actor& actor, const std::string& reason) {
  return parts_->core->instances().request(id, ResumeRequested{reason}, actor);
}
Result<InstanceAnswer> Engine::retry(const InstanceId& id, const Actor& actor, const std::string& reason,
                                     bool new_key) {
  return parts_->core->instances().request(id, RetryRequested{new_key, reason}, actor);
}
Result<InstanceAnswer> Engine::skip(const InstanceId& id, const Json& result, const Actor& actor,
                                    const std::string& reason) {
  return parts_->core->instances().request(id, SkipRequested{result, reason}, actor);
}
Result<InstanceAnswer> Engine::edit(const InstanceId& id, const Json& merge_patch, const Actor& actor,
                                    const std::string& reason) {
  return parts_->core->instances().request(id, StateEdited{merge_patch, reason}, actor);
}

Store& Engine::store() { return *parts_->store; }
EngineCore& Engine::core() { return *parts_->core; }

}  // namespace cairn
