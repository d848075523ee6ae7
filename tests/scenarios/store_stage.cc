#include "store_stage.h"

#include <algorithm>
#include <set>

#include "store/projection.h"

namespace cairn {
namespace {

constexpr PageRequest everything{10'000, ""};
// Longer than any scenario: the stage is a worker that never dies.
const Duration lease_length = Duration::of_seconds(100LL * 365 * 86'400);

template <class T>
T must(Result<T> result) {
  CAIRN_ASSERT(result.has_value());
  return std::move(*result);
}

// Whether it was done is all that is asked.
template <class T>
Result<void> only_whether(Result<T> result) {
  if (!result) return std::move(result).error();
  return {};
}

bool is_transport(const RunRow& run) { return run.type.starts_with("cairn."); }

Json to_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

}  // namespace

StoreStage::StoreStage(const Scenario& scenario, OpenStore open, bool restarts)
    : scenario_(scenario),
      open_(std::move(open)),
      restarts_(restarts),
      clock_(scenario.begins_at),
      now_(scenario.begins_at),
      replies_(scenario.replies) {
  reopen();
  for (const std::string& name : scenario.known->names()) {
    for (const std::string& version : scenario.known->versions(name)) {
      CAIRN_ASSERT(core_->registry().deploy(scenario.known->find(name, version)).has_value());
    }
  }
  CAIRN_ASSERT(core_->registry().deploy(scenario.program).has_value());
}

StoreStage::~StoreStage() {
  core_.reset();
  cut_.reset();
}

void StoreStage::reopen() {
  core_.reset();
  cut_.reset();
  store_.reset();
  store_ = open_(clock_);
  cut_ = std::make_unique<CutStore>(*store_, ledger_, restarts_);
  CoreOptions options;
  options.config = scenario_.config;
  options.limits = scenario_.limits;
  // What a dead process had taken is free at once, also in a store that lives on in memory.
  options.hold = Duration{};
  core_ = must(EngineCore::open(*cut_, options));
}

Result<void> StoreStage::act(const std::function<Result<void>(EngineCore&)>& request) {
  auto done = request(*core_);
  if (!cut_->is_cut()) return done;
  reopen();
  return {};
}

Result<bool> StoreStage::step() {
  std::size_t moved = 0;
  const auto count = [&](auto work) {
    return act([&](EngineCore& core) -> Result<void> {
      moved = work(core);
      return {};
    });
  };
  if (restarts_) CAIRN_TRY_VOID(count([](EngineCore& core) { return core.due().resume_interrupted_slices(); }));
  if (moved > 0) return true;
  CAIRN_TRY_VOID(count([](EngineCore& core) { return core.due().dispatch_messages(); }));
  if (moved > 0) return true;
  LeaseRequest lease;
  lease.worker = "stage";
  lease.prefixes = {""};
  lease.max = 10'000;
  lease.length = lease_length;
  CAIRN_TRY_VOID(cut_->lease_runs(lease));
  for (const RunRow& run : open_runs()) {
    if (run.status != RunStatus::leased) continue;
    auto reply = take_reply(run);
    if (!reply && !scenario_.calls_fail) continue;
    if (!reply) {
      reply = CallReply{};
      reply->failure = Failure{FailureClass::transport,
                               "no_handler_registered",
                               "nothing handles " + run.type + " here; give a reply for it",
                               {},
                               1,
                               "",
                               ""};
    }
    CAIRN_TRY_VOID(report(run, *reply));
    return true;
  }
  return false;
}

Result<void> StoreStage::run_until_waiting() {
  while (true) {
    CAIRN_TRY(const bool moved, step());
    if (!moved) return {};
  }
}

Result<void> StoreStage::start(const InstanceId& id) {
  root_ = id;
  StartRequest request;
  request.definition = scenario_.program->name;
  request.version = scenario_.program->version;
  request.input = scenario_.input;
  request.reference = scenario_.reference;
  request.id = id.value;
  request.actor.name = "cli";
  CAIRN_TRY_VOID(act([&](EngineCore& core) { return only_whether(core.instances().start(request)); }));
  return run_until_waiting();
}

Result<void> StoreStage::answer(const std::string& task, const std::string& by, const Json& payload) {
  for (const TaskRow& row : open_tasks()) {
    if (row.name != task) continue;
    TaskCompletion completion;
    completion.task = row.id;
    completion.payload = payload;
    completion.actor.name = by;
    CAIRN_TRY_VOID(act([&](EngineCore& core) { return only_whether(core.tasks().complete(completion)); }));
    return run_until_waiting();
  }
  return Error{ErrorCode::not_found, "no task " + task + " is open"};
}

Result<void> StoreStage::signal(const SignalReceived& signal, std::optional<Duration> ttl) {
  // To the root, unless only one of its children waits for it.
  InstanceId target = root_;
  for (const Snapshot& snapshot : tree()) {
    if (std::any_of(snapshot.waits.begin(), snapshot.waits.end(), [&](const Wait& wait) {
          return wait.kind == WaitKind::signal && wait.name == signal.name && takes(wait.key, signal.key);
        })) {
      target = snapshot.instance;
      break;
    }
  }
  signalled_child_ |= target != root_;
  CAIRN_TRY_VOID(act([&](EngineCore& core) {
    return only_whether(core.instances().signal(target, {signal.id, signal.name, signal.key, signal.payload, {}, ttl}));
  }));
  return run_until_waiting();
}

Result<void> StoreStage::report(const RunRow& run, const CallReply& reply) {
  RunReport report;
  report.run = run.id;
  report.fence = run.fence;
  report.result = reply.result;
  report.failure = reply.failure;
  report.worker = "stage";
  return act([&](EngineCore& core) { return only_whether(core.reports().report(report)); });
}

std::optional<CallReply> StoreStage::take_reply(const RunRow& run) {
  const std::string& target = is_transport(run) ? run.step : run.type;
  const auto found =
      std::find_if(replies_.begin(), replies_.end(), [&](const CallReply& reply) { return reply.target == target; });
  if (found == replies_.end()) return std::nullopt;
  CallReply reply = std::move(*found);
  replies_.erase(found);
  return reply;
}

Result<void> StoreStage::reply(const CallReply& reply) {
  for (const RunRow& run : open_runs()) {
    if (run.status != RunStatus::leased || (run.step != reply.target && run.type != reply.target)) continue;
    CAIRN_TRY_VOID(report(run, reply));
    return run_until_waiting();
  }
  return Error{ErrorCode::not_found, "no call to " + reply.target + " is pending"};
}

Result<void> StoreStage::request(EventBody what) {
  CAIRN_TRY_VOID(
      act([&](EngineCore& core) { return only_whether(core.instances().request(root_, std::move(what), {})); }));
  return run_until_waiting();
}

Result<bool> StoreStage::fire_next(std::optional<Timestamp> until) {
  std::optional<Timestamp> due;
  const auto consider = [&](Timestamp at) { due = due ? std::min(*due, at) : at; };
  for (const Snapshot& snapshot : tree()) {
    for (const Wait& wait : snapshot.waits) {
      const bool has_fired = std::any_of(snapshot.held.begin(), snapshot.held.end(),
                                         [&](const HeldWakeup& held) { return held.token == wait.token; });
      if (wait.until && !has_fired) consider(whole_ms_up(*wait.until));
    }
    if (is_final(snapshot.status)) continue;
    for (const BufferedSignal& kept : snapshot.signals) {
      if (kept.until) consider(whole_ms_up(*kept.until));
    }
  }
  for (const RunRow& run : open_runs()) {
    if (run.status == RunStatus::pending) consider(run.run_at);
    if (run.status == RunStatus::leased && run.timeout) consider(after(run.updated_at, *run.timeout));
  }
  if (!due || (until && *due > *until)) return false;
  move_clock(*due);
  CAIRN_TRY_VOID(act([&](EngineCore& core) -> Result<void> {
    if (core.due().fire_timers(1) == 0) core.due().end_exhausted_runs();
    return {};
  }));
  CAIRN_TRY_VOID(run_until_waiting());
  return true;
}

void StoreStage::move_clock(Timestamp to) {
  now_ = std::max(now_, to);
  clock_.set(now_);
}

std::vector<Snapshot> StoreStage::tree() {
  InstanceFilter filter;
  filter.deleted = true;
  auto rows = must(cut_->list_instances(filter, everything)).items;
  std::reverse(rows.begin(), rows.end());
  std::set<std::string> known{root_.value};
  std::vector<Snapshot> found;
  for (const InstanceRow& row : rows) {
    if (row.id != root_ && !(row.parent && known.contains(row.parent->value))) continue;
    known.insert(row.id.value);
    found.push_back(*must(cut_->find_snapshot(row.id)));
  }
  return found;
}

std::vector<RunRow> StoreStage::open_runs() {
  auto rows = must(cut_->list_runs({}, everything)).items;
  std::reverse(rows.begin(), rows.end());
  std::erase_if(rows, [](const RunRow& run) { return is_final(run.status); });
  return rows;
}

std::vector<TaskRow> StoreStage::open_tasks() {
  std::set<std::string> ours;
  for (const Snapshot& snapshot : tree()) ours.insert(snapshot.instance.value);
  auto rows = must(cut_->list_tasks({}, everything)).items;
  std::erase_if(rows, [&](const TaskRow& row) { return !ours.contains(row.instance.value); });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TaskRow& a, const TaskRow& b) { return a.created_at < b.created_at; });
  return rows;
}

Json StoreStage::show(const std::string& what) {
  const std::vector<Snapshot> instances = tree();
  if (instances.empty()) return {};
  const Snapshot& root = instances.front();
  if (what == "status") return to_string(root.status);
  if (what == "state") return root.state;
  if (what == "output") return root.output;
  if (what == "error") return root.error ? to_json(*root.error) : Json();
  if (what == "reference") return Json::object({{"key", root.reference.key}, {"parts", root.reference.parts}});
  if (what == "now") return format_timestamp(now_);
  Json list = Json::array();
  if (what == "waits") {
    list_waits(root, list);
  } else if (what == "tasks") {
    for (const TaskRow& task : open_tasks()) list.push_back(task.name);
  } else if (what == "closed_tasks") {
    for (const TaskId& id : ledger_.tasks_closed) {
      const TaskRow task = must(cut_->find_task(id)).value_or(TaskRow{});
      list.push_back(Json::object({{"by", task.completed_by},
                                   {"name", task.name},
                                   {"payload", task.completion},
                                   {"status", to_string(task.status)}}));
    }
  } else if (what == "events") {
    OutboxFilter waiting;
    waiting.unpublished = true;
    for (const OutboxRow& row : must(cut_->list_outbox(waiting, {10'000, ""})).items) {
      list.push_back(
          Json::object({{"data", row.event.data}, {"subject", row.event.subject}, {"type", row.event.type}}));
    }
  } else if (what == "calls") {
    for (const RunRow& run : open_runs()) {
      list.push_back(Json::object({{"attempt", run.status == RunStatus::leased ? run.attempt : run.attempt + 1},
                                   {"payload", run.payload},
                                   {"step", run.step},
                                   {"type", run.type}}));
    }
  } else if (what == "continued") {
    auto rows = must(cut_->list_instances({}, everything)).items;
    std::reverse(rows.begin(), rows.end());
    for (const InstanceRow& row : rows) {
      if (row.parent || row.id == root_) continue;
      list.push_back(Json::object({{"input", must(cut_->find_snapshot(row.id))->input},
                                   {"name", row.program.name},
                                   {"version", row.program.version}}));
    }
  } else if (what == "signals") {
    for (const Snapshot& snapshot : instances) {
      for (const BufferedSignal& kept : snapshot.signals) list.push_back(kept.name);
    }
  }
  return list;
}

void StoreStage::list_waits(const Snapshot& snapshot, Json& into) {
  for (const Wait& wait : snapshot.waits) {
    Json entry = Json::object({{"kind", to_string(wait.kind)}, {"step", wait.step}, {"token", wait.token.value}});
    switch (wait.kind) {
      case WaitKind::task: {
        const TaskRow task = must(cut_->find_task({wait.target})).value_or(TaskRow{});
        entry.set("name", task.name);
        entry.set("title", task.title);
        entry.set("roles", to_list(task.roles));
        entry.set("exclude", to_list(task.exclude));
        entry.set("payload", task.payload);
        break;
      }
      case WaitKind::timer:
        if (wait.until) entry.set("until", format_timestamp(*wait.until));
        break;
      case WaitKind::signal:
        entry.set("name", wait.name);
        entry.set("key", wait.key);
        break;
      case WaitKind::subworkflow:
        entry.set("name", wait.name);
        entry.set("instance_id", wait.target);
        break;
      case WaitKind::run: {
        entry.set("name", wait.name);
        const RunRow run = must(cut_->find_run({wait.target})).value_or(RunRow{});
        if (run.status != RunStatus::pending) break;
        entry.set("kind", "retry");
        entry.set("until", format_timestamp(run.run_at));
        entry.set("attempt", run.attempt + 1);
        break;
      }
    }
    into.push_back(std::move(entry));
    if (wait.kind != WaitKind::subworkflow) continue;
    if (const auto child = must(cut_->find_snapshot({wait.target}))) list_waits(*child, into);
  }
}

}  // namespace cairn
