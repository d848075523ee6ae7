#include "case_world.h"

#include <algorithm>

#include "definition/definition.h"

namespace cairn::sim {

namespace {

constexpr int acts_max = 150;
constexpr std::int64_t first_ms = 1'790'000'000'000;

Failure failure_of(FailureClass kind, const char* code) { return {kind, code, "as drawn", Json(), 1, "", ""}; }

const char* why(const Error& error) {
  switch (error.code) {
    case ErrorCode::not_allowed: return "not_allowed";
    case ErrorCode::invalid: return "invalid";
    case ErrorCode::not_found: return "not_found";
    default: return "conflict";
  }
}

}  // namespace

CaseWorld::CaseWorld(const GeneratedCase& made, std::uint64_t environment_seed)
    : made_(made),
      environment_seed_(environment_seed),
      dice_(made.workflow_seed * 1'000'003 + environment_seed),
      clock_(Timestamp::of_unix_ms(first_ms)),
      memory_(clock_),
      store_(memory_, recorder_) {
  hostility_ = dice_.chance(50) ? 0 : dice_.between(5, 40);
  operators_ = dice_.chance(40) ? 0 : dice_.between(1, 8);
  quiet_clock_ = dice_.chance(50) ? dice_.between(2, 8) : dice_.between(5, 40);
  // Some operators are slow: timers, signals and answers pile up while an instance is suspended.
  slow_operators_ = dice_.chance(35);
  if (slow_operators_) operators_ = std::max(operators_, 8);
}

Result<Json> CaseWorld::live() {
  CAIRN_TRY_VOID(deploy());
  CAIRN_TRY_VOID(start());
  for (int act = 0; act < acts_max && !everything_ended(); ++act) this->act();
  core_->due().run_until_idle();
  Json record = Json::object({{"workflow_seed", static_cast<std::int64_t>(made_.workflow_seed)},
                              {"environment_seed", static_cast<std::int64_t>(environment_seed_)},
                              {"definitions", canonical_},
                              {"timers_in_order", true},
                              {"end", clock_.now().unix_ms()}});
  return recorder_.finish(store_, std::move(record));
}

Result<void> CaseWorld::deploy() {
  CoreOptions options;
  options.yield = [] {};
  CAIRN_TRY(core_, EngineCore::open(store_, std::move(options)));
  for (const Json& source : made_.definitions) {
    const Definition definition = definition_of(source);
    if (!definition.valid()) return Error{ErrorCode::invalid, "the generated definition is not valid"};
    canonical_.push_back(definition.canonical);
    CAIRN_TRY_VOID(core_->registry().deploy(definition.program));
  }
  return {};
}

Result<void> CaseWorld::start() {
  StartRequest request;
  request.definition = made_.root;
  request.input = made_.input;
  // Everything else is derived from it: the same seeds give the same record.
  request.id = derived_uuid("case", std::to_string(made_.workflow_seed), environment_seed_);
  CAIRN_TRY(const auto answer, core_->instances().start(request));
  return {};
}

bool CaseWorld::everything_ended() {
  for (const InstanceId& id : recorder_.instance_ids()) {
    const auto row = memory_.find_instance(id);
    if (row && *row && !is_final((*row)->status)) return false;
  }
  return true;
}

void CaseWorld::act() {
  // Nothing else helps an instance that is suspended.
  const bool waits_for_operator = any_instance(Status::suspended).has_value();
  if (waits_for_operator && dice_.chance(slow_operators_ ? 8 : 30)) return operate();
  const int roll = dice_.below(100);
  if (roll < operators_ && !(slow_operators_ && waits_for_operator)) return operate();
  if (roll < operators_ + quiet_clock_) return move_clock();
  switch (dice_.below(8)) {
    case 0:
    case 1:
    case 2: return complete_a_task();
    case 3:
    case 4: return work();
    case 5:
    case 6: return send_a_signal();
    default: core_->due().dispatch_messages(); return;
  }
}

std::optional<InstanceId> CaseWorld::any_instance(std::optional<Status> status) {
  std::vector<InstanceId> found;
  for (const InstanceId& id : recorder_.instance_ids()) {
    const auto row = memory_.find_instance(id);
    if (row && *row && (status ? (*row)->status == *status : !is_final((*row)->status))) found.push_back(id);
  }
  if (found.empty()) return std::nullopt;
  return dice_.pick(found);
}

void CaseWorld::complete_a_task() {
  TaskFilter filter;
  filter.closed = dice_.chance(5);  // a late completion
  auto page = memory_.list_tasks(filter, {.limit = 50, .cursor = {}});
  if (!page || page->items.empty()) return move_clock();
  const TaskRow task = dice_.pick(page->items);
  TaskCompletion completion;
  completion.task = task.id;
  completion.actor.name = dice_.pick(made_.hints.people);
  completion.payload = random_payload(dice_, hostility_);
  auto answer = core_->tasks().complete(completion);
  if (answer) return;
  Json request = Json::object({{"event", "task"},
                               {"instance", task.instance.value},
                               {"task", task.id.value},
                               {"step", task.step},
                               {"name", task.name},
                               {"by", completion.actor.name},
                               {"payload", completion.payload},
                               {"at", clock_.now().unix_ms()}});
  recorder_.note(Json::object({{"event", "refused"}, {"request", request}, {"why", why(answer.error())}}),
                 clock_.now());
}

void CaseWorld::send_a_signal() {
  if (made_.hints.signal_names.empty()) return move_clock();
  SignalRequest request;
  if (!signals_sent_.empty() && dice_.chance(10)) {
    request.id = dice_.pick(signals_sent_);
  } else {
    request.id = "s" + std::to_string(signals_sent_.size());
    signals_sent_.push_back(request.id);
  }
  request.name = dice_.pick(made_.hints.signal_names);
  if (dice_.chance(70)) request.key = dice_.pick(made_.hints.signal_keys);
  auto id = any_instance(std::nullopt);
  if (id && dice_.chance(70)) {
    // A signal that an instance waits for, if there is one.
    const auto waits = memory_.list_waits(*id);
    for (const Wait& wait : waits ? *waits : std::vector<Wait>()) {
      if (wait.kind != WaitKind::signal) continue;
      request.name = wait.name;
      if (dice_.chance(80) && !wait.key.is_null()) request.key = wait.key;
      break;
    }
  }
  request.payload = random_payload(dice_, hostility_);
  if (dice_.chance(40)) {
    auto outcome = core_->instances().broadcast(request);
    if (!outcome || outcome->duplicate) return;
    Json::Array delivered;
    for (const InstanceId& target : outcome->delivered) delivered.emplace_back(target.value);
    recorder_.note(Json::object({{"event", "broadcast"},
                                 {"id", request.id},
                                 {"name", request.name},
                                 {"key", request.key},
                                 {"payload", request.payload},
                                 {"delivered", delivered},
                                 {"kept", outcome->kept}}),
                   clock_.now());
    return;
  }
  if (!id) return;
  recorder_.will_signal(request.id, request.name, request.key, request.payload);
  static_cast<void>(core_->instances().signal(*id, request));
}

void CaseWorld::work() {
  if (!in_hand_.empty() && dice_.chance(50)) {
    const RunRow run = in_hand_.back();
    in_hand_.pop_back();
    return report(run);
  }
  LeaseRequest request;
  request.worker = "worker";
  request.types = made_.hints.worker_types;
  request.length = Duration::of_seconds(30);
  if (request.types.empty()) return move_clock();
  auto runs = store_.lease_runs(request);
  if (!runs || runs->empty()) return move_clock();
  if (dice_.chance(20)) {
    in_hand_.push_back(runs->front());
  } else {
    report(runs->front());
  }
}

void CaseWorld::report(const RunRow& run) {
  RunReport report;
  report.run = run.id;
  report.fence = run.fence;
  report.worker = "worker";
  const int roll = dice_.below(100);
  if (roll < 55) {
    report.result = random_payload(dice_, hostility_);
  } else if (roll < 75) {
    report.failure = failure_of(FailureClass::transport, "connect_failed");
  } else if (roll < 88) {
    report.failure = failure_of(FailureClass::timeout, "call_timeout");
  } else if (roll < 91) {
    report.failure = failure_of(FailureClass::transport, "no_handler_registered");
  } else if (roll < 94) {
    report.failure = failure_of(FailureClass::authorization, "refused");
  } else if (roll < 97) {
    report.failure = failure_of(FailureClass::business, "declined");
    report.failure->details = Json::object({{"n", 1}});
  } else {
    report.failure = failure_of(FailureClass::transport, "http_404");
    report.retry = false;
    recorder_.will_not_retry(run.id);
  }
  static_cast<void>(core_->reports().report(report));
}

void CaseWorld::ask(const InstanceId& id, const std::string& event, EventBody what, Json facts) {
  const Actor actor{"operator." + std::to_string(++requests_), std::nullopt};
  facts.set("event", event);
  facts.set("instance", id.value);
  recorder_.will_request(actor.name, facts);
  auto answer = core_->instances().request(id, std::move(what), actor);
  if (answer) return;
  recorder_.was_refused(actor.name, why(answer.error()), clock_.now());
}

void CaseWorld::operate() {
  if (const auto suspended = any_instance(Status::suspended); suspended) {
    switch (dice_.below(8)) {
      case 0: return ask(*suspended, "cancel", CancelRequested{"no longer wanted"});
      case 1:
      case 2: {
        const Json patch = Json::object({{"n0", dice_.between(0, 5)},
                                         {"c0", Json()},
                                         {"r0", random_payload(dice_, 0)},
                                         {"r1", dice_.chance(30) ? Json() : random_payload(dice_, 0)}});
        return ask(*suspended, "edit", StateEdited{patch}, Json::object({{"patch", patch}}));
      }
      case 3: {
        const Json result = random_payload(dice_, 0);
        return ask(*suspended, "skip", SkipRequested{result}, Json::object({{"result", result}}));
      }
      case 4:
      case 5: return ask(*suspended, "retry", RetryRequested{});
      default: {
        // Resuming an incident as it is means nothing that the specification says.
        const auto row = memory_.find_instance(*suspended);
        if (row && *row && (*row)->error) return ask(*suspended, "retry", RetryRequested{});
        return ask(*suspended, "resume", ResumeRequested{});
      }
    }
  }
  const auto id = any_instance(std::nullopt);
  if (!id) return;
  if (dice_.chance(10)) return ask(*id, "cancel", CancelRequested{"no longer wanted"});
  if (dice_.chance(30)) {
    const Json patch = Json::object({{"n1", dice_.between(0, 5)}});
    return ask(*id, "edit", StateEdited{patch}, Json::object({{"patch", patch}}));
  }
  ask(*id, "suspend", SuspendRequested{"maintenance"});
}

void CaseWorld::move_clock() {
  const auto due = store_.next_due();
  if (due && *due && **due > clock_.now() && dice_.chance(85)) {
    clock_.set(**due);
  } else {
    static const std::vector<int> jumps_ms = {1, 1000, 2500, 10'000, 60'000, 3'600'000};
    clock_.advance(Duration::of_ms(dice_.pick(jumps_ms)));
  }
  if (dice_.chance(80)) core_->due().fire_timers();
  if (dice_.chance(50)) core_->due().end_exhausted_runs();
}

}  // namespace cairn::sim
