#include "node_store.h"

#include "world.h"

namespace cairn::sim {

template <class Call>
auto NodeStore::through(const char* verb, Way way, const Call& call) -> decltype(call()) {
  if (auto refused = world_.arrive(node_, verb)) return *refused;
  auto answer = call();
  if (auto lost = world_.leave(node_, verb, way == Way::write)) return *lost;
  return answer;
}

Timestamp NodeStore::now() { return behind_.now(); }

NodeStore::NodeStore(World& world, int node, Store& behind) : world_(world), node_(node), behind_(behind) {
  traits_.shared = true;
  traits_.writers = static_cast<std::size_t>(world_.plan().writers);
  traits_.keeps_encoded = behind_.traits().keeps_encoded;
  traits_.piece_bytes_min = behind_.traits().piece_bytes_min;
}

void NodeStore::keep_apart(std::size_t piece_bytes_min) {
  behind_.keep_apart(piece_bytes_min);
  traits_.piece_bytes_min = piece_bytes_min;
  traits_.keeps_encoded = behind_.traits().keeps_encoded;
}

void NodeStore::watch(WakeupListener listener) { world_.listen(node_, std::move(listener)); }

Result<std::vector<CommitOutcome>> NodeStore::commit(std::span<const Unit> units) {
  return through("commit", Way::write, [&] {
    world_.writing(node_, units);
    auto outcomes = behind_.commit(units);
    world_.written(node_, units, outcomes);
    return outcomes;
  });
}

void NodeStore::give_back(const DueTimer& timer) {
  if (!world_.arrive(node_, "give_back")) behind_.give_back(timer);
}

void NodeStore::give_back_message(std::int64_t message) {
  if (!world_.arrive(node_, "give_back_message")) behind_.give_back_message(message);
}

Result<std::vector<RunRow>> NodeStore::lease_runs(const LeaseRequest& request) {
  return through("lease_runs", Way::write, [&] {
    auto runs = behind_.lease_runs(request);
    if (runs) {
      for (const RunRow& run : *runs) world_.chronicle().leased(run, behind_.now());
    }
    return runs;
  });
}

Result<RunChanged> NodeStore::change_run(const RunChange& change) {
  return through("change_run", Way::write, [&] {
    auto changed = behind_.change_run(change);
    if (changed) {
      world_.chronicle().run_changed(change, *changed, behind_.now());
      world_.recorder().retried(change, *changed, behind_.now());
    }
    return changed;
  });
}

Result<std::pair<RunRow, bool>> NodeStore::submit_run(const RunRow& run) {
  return through("submit_run", Way::write, [&] {
    world_.chronicle().submitting(run);
    auto submitted = behind_.submit_run(run);
    if (submitted && submitted->second) world_.chronicle().submitted(submitted->first);
    return submitted;
  });
}

Result<std::vector<bool>> NodeStore::submit_runs(std::span<RunRow> runs) {
  return through("submit_runs", Way::write, [&] {
    for (const RunRow& run : runs) world_.chronicle().submitting(run);
    auto submitted = behind_.submit_runs(runs);
    if (submitted) {
      for (std::size_t i = 0; i < runs.size(); ++i) {
        if ((*submitted)[i]) world_.chronicle().submitted(runs[i]);
      }
    }
    return submitted;
  });
}

Result<RetentionOutcome> NodeStore::retire_instances(const RetentionRequest& request) {
  return through("retire_instances", Way::write, [&] {
    auto outcome = behind_.retire_instances(request);
    if (outcome) world_.chronicle().compare(behind_, "I-01 versions");
    return outcome;
  });
}

Result<int> NodeStore::schema_version() {
  return through("schema_version", Way::read, [&] { return behind_.schema_version(); });
}

Result<void> NodeStore::check_writable() {
  return through("check_writable", Way::read, [&] { return behind_.check_writable(); });
}

Result<std::vector<StoreFault>> NodeStore::faults(std::size_t max) {
  return through("faults", Way::read, [&] { return behind_.faults(max); });
}

Result<PutDefinition> NodeStore::put_definition(const DefinitionRow& row) {
  return through("put_definition", Way::write, [&] { return behind_.put_definition(row); });
}

Result<std::optional<DefinitionRow>> NodeStore::find_definition(const std::string& name,
                                                                const std::optional<std::string>& version) {
  return through("find_definition", Way::read, [&] { return behind_.find_definition(name, version); });
}

Result<Page<DefinitionRow>> NodeStore::list_definitions(const PageRequest& page) {
  return through("list_definitions", Way::read, [&] { return behind_.list_definitions(page); });
}

Result<bool> NodeStore::retire_definition(const std::string& name, const std::string& version) {
  return through("retire_definition", Way::write, [&] { return behind_.retire_definition(name, version); });
}

Result<std::optional<Snapshot>> NodeStore::find_snapshot(const InstanceId& id) {
  return through("find_snapshot", Way::read, [&] { return behind_.find_snapshot(id); });
}

Result<std::vector<std::string>> NodeStore::list_pieces(const InstanceId& id) {
  return through("list_pieces", Way::read, [&] { return behind_.list_pieces(id); });
}

Result<std::vector<PieceFault>> NodeStore::piece_faults(std::size_t max) {
  return through("piece_faults", Way::read, [&] { return behind_.piece_faults(max); });
}

Result<std::size_t> NodeStore::collect_pieces(std::size_t max) {
  return through("collect_pieces", Way::write, [&] { return behind_.collect_pieces(max); });
}

Result<std::optional<KeyAnswer>> NodeStore::find_key(const std::string& scope, const std::string& key) {
  return through("find_key", Way::read, [&] { return behind_.find_key(scope, key); });
}

Result<void> NodeStore::park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                             std::optional<std::int64_t> message) {
  return through("park", Way::write, [&] { return behind_.park(id, why, letter, message); });
}

Result<bool> NodeStore::mark_deleted(const InstanceId& id, const std::string& reason) {
  return through("mark_deleted", Way::write, [&] { return behind_.mark_deleted(id, reason); });
}

Result<SignalOutcome> NodeStore::record_signal(const CorrelatedSignal& signal) {
  return through("record_signal", Way::write, [&] { return behind_.record_signal(signal); });
}

Result<std::vector<DueTimer>> NodeStore::take_timers(std::size_t max, Duration hold) {
  return through("take_timers", Way::write, [&] { return behind_.take_timers(max, hold); });
}

Result<Page<KeptSignal>> NodeStore::list_signals(const SignalFilter& filter, const PageRequest& page) {
  return through("list_signals", Way::read, [&] { return behind_.list_signals(filter, page); });
}

Result<bool> NodeStore::discard_signal(std::int64_t number) {
  return through("discard_signal", Way::write, [&] { return behind_.discard_signal(number); });
}

Result<std::size_t> NodeStore::expire_signals(std::size_t max) {
  return through("expire_signals", Way::write, [&] { return behind_.expire_signals(max); });
}

Result<std::vector<Message>> NodeStore::take_messages(std::size_t max, Duration hold) {
  return through("take_messages", Way::write, [&] {
    auto messages = behind_.take_messages(max, hold);
    if (messages) {
      for (const Message& message : *messages) world_.recorder().took(message);
    }
    return messages;
  });
}

Result<std::optional<Timestamp>> NodeStore::next_due(Timestamp looked_at) {
  return through("next_due", Way::read, [&] { return behind_.next_due(looked_at); });
}

Result<std::vector<RunRow>> NodeStore::exhausted_runs(std::size_t max) {
  return through("exhausted_runs", Way::read, [&] { return behind_.exhausted_runs(max); });
}

Result<std::optional<RunRow>> NodeStore::find_run(const RunId& id) {
  return through("find_run", Way::read, [&] { return behind_.find_run(id); });
}

Result<Page<RunRow>> NodeStore::list_runs(const RunFilter& filter, const PageRequest& page) {
  return through("list_runs", Way::read, [&] { return behind_.list_runs(filter, page); });
}

Result<std::vector<RunEvent>> NodeStore::run_events(const RunId& id) {
  return through("run_events", Way::read, [&] { return behind_.run_events(id); });
}

Result<void> NodeStore::put_run_type(const RunTypeRow& row) {
  return through("put_run_type", Way::write, [&] { return behind_.put_run_type(row); });
}

Result<bool> NodeStore::remove_run_type(const std::string& type) {
  return through("remove_run_type", Way::write, [&] { return behind_.remove_run_type(type); });
}

Result<std::vector<RunTypeRow>> NodeStore::list_run_types() {
  return through("list_run_types", Way::read, [&] { return behind_.list_run_types(); });
}

Result<std::vector<OutboxRow>> NodeStore::claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) {
  return through("claim_outbox", Way::write, [&] { return behind_.claim_outbox(sinks, claim); });
}

Result<std::vector<std::string>> NodeStore::list_sink_queues() {
  return through("list_sink_queues", Way::read, [&] { return behind_.list_sink_queues(); });
}

Result<void> NodeStore::hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) {
  return through("hold_outbox", Way::write, [&] { return behind_.hold_outbox(sink, sequences, hold); });
}

Result<std::size_t> NodeStore::record_sink_results(const std::string& sink, std::span<const SinkResult> events) {
  return through("record_sink_results", Way::write, [&] { return behind_.record_sink_results(sink, events); });
}

Result<Page<OutboxRow>> NodeStore::list_outbox(const OutboxFilter& filter, const PageRequest& page) {
  return through("list_outbox", Way::read, [&] { return behind_.list_outbox(filter, page); });
}

Result<std::vector<SinkDelivery>> NodeStore::list_deliveries(std::int64_t sequence) {
  return through("list_deliveries", Way::read, [&] { return behind_.list_deliveries(sequence); });
}

Result<bool> NodeStore::resend_outbox(std::int64_t sequence) {
  return through("resend_outbox", Way::write, [&] { return behind_.resend_outbox(sequence); });
}

Result<PutSchedule> NodeStore::put_schedule(const ScheduleRow& row) {
  return through("put_schedule", Way::write, [&] { return behind_.put_schedule(row); });
}

Result<std::optional<ScheduleRow>> NodeStore::find_schedule(const std::string& name) {
  return through("find_schedule", Way::read, [&] { return behind_.find_schedule(name); });
}

Result<Page<ScheduleRow>> NodeStore::list_schedules(const PageRequest& page) {
  return through("list_schedules", Way::read, [&] { return behind_.list_schedules(page); });
}

Result<bool> NodeStore::remove_schedule(const std::string& name) {
  return through("remove_schedule", Way::write, [&] { return behind_.remove_schedule(name); });
}

Result<std::vector<ScheduleRow>> NodeStore::take_schedules(std::size_t max, Duration hold) {
  return through("take_schedules", Way::write, [&] { return behind_.take_schedules(max, hold); });
}

Result<void> NodeStore::put_api_key(const ApiKeyRow& row) {
  return through("put_api_key", Way::write, [&] { return behind_.put_api_key(row); });
}

Result<std::optional<ApiKeyRow>> NodeStore::find_api_key(const std::string& secret_hash) {
  return through("find_api_key", Way::read, [&] { return behind_.find_api_key(secret_hash); });
}

Result<std::vector<ApiKeyRow>> NodeStore::list_api_keys() {
  return through("list_api_keys", Way::read, [&] { return behind_.list_api_keys(); });
}

Result<bool> NodeStore::revoke_api_key(const std::string& id) {
  return through("revoke_api_key", Way::write, [&] { return behind_.revoke_api_key(id); });
}

Result<void> NodeStore::put_token_user(const TokenUserRow& row) {
  return through("put_token_user", Way::write, [&] { return behind_.put_token_user(row); });
}

Result<std::vector<TokenUserRow>> NodeStore::find_token_users(const std::string& person) {
  return through("find_token_users", Way::read, [&] { return behind_.find_token_users(person); });
}

Result<void> NodeStore::append_audit(std::span<const AuditRow> rows) {
  return through("append_audit", Way::write, [&] { return behind_.append_audit(rows); });
}

Result<Page<AuditRow>> NodeStore::list_audit(const PageRequest& page) {
  return through("list_audit", Way::read, [&] { return behind_.list_audit(page); });
}

Result<TaskChanged> NodeStore::change_task(const TaskChange& change) {
  return through("change_task", Way::write, [&] { return behind_.change_task(change); });
}

Result<std::optional<TaskRow>> NodeStore::find_task(const TaskId& id) {
  return through("find_task", Way::read, [&] { return behind_.find_task(id); });
}

Result<Page<TaskRow>> NodeStore::list_tasks(const TaskFilter& filter, const PageRequest& page) {
  return through("list_tasks", Way::read, [&] { return behind_.list_tasks(filter, page); });
}

Result<std::vector<TaskEvent>> NodeStore::task_events(const TaskId& id) {
  return through("task_events", Way::read, [&] { return behind_.task_events(id); });
}

Result<std::optional<InstanceRow>> NodeStore::find_instance(const InstanceId& id) {
  return through("find_instance", Way::read, [&] { return behind_.find_instance(id); });
}

Result<Page<InstanceRow>> NodeStore::list_instances(const InstanceFilter& filter, const PageRequest& page) {
  return through("list_instances", Way::read, [&] { return behind_.list_instances(filter, page); });
}

Result<Page<HistoryRow>> NodeStore::history(const InstanceId& id, const PageRequest& page) {
  return through("history", Way::read, [&] { return behind_.history(id, page); });
}

Result<std::vector<Wait>> NodeStore::list_waits(const InstanceId& id) {
  return through("list_waits", Way::read, [&] { return behind_.list_waits(id); });
}

Result<std::vector<DueTimer>> NodeStore::list_timers(const InstanceId& id) {
  return through("list_timers", Way::read, [&] { return behind_.list_timers(id); });
}

Result<std::vector<Message>> NodeStore::list_messages(const InstanceId& id) {
  return through("list_messages", Way::read, [&] { return behind_.list_messages(id); });
}

Result<StoreFigures> NodeStore::figures(std::size_t most, std::size_t names_max) {
  return through("figures", Way::read, [&] { return behind_.figures(most, names_max); });
}

Result<std::vector<QueueFault>> NodeStore::queue_faults(std::size_t max) {
  return through("queue_faults", Way::read, [&] { return behind_.queue_faults(max); });
}

Result<std::vector<SettingAdvice>> NodeStore::setting_advice() {
  return through("setting_advice", Way::read, [&] { return behind_.setting_advice(); });
}

Result<SettledOutbox> NodeStore::settled_outbox() {
  return through("settled_outbox", Way::read, [&] { return behind_.settled_outbox(); });
}

Result<std::int64_t> NodeStore::put_dead_letter(const DeadLetter& letter) {
  return through("put_dead_letter", Way::write, [&] { return behind_.put_dead_letter(letter); });
}

Result<Page<DeadLetter>> NodeStore::list_dead_letters(const PageRequest& page) {
  return through("list_dead_letters", Way::read, [&] { return behind_.list_dead_letters(page); });
}

Result<bool> NodeStore::replay_dead_letter(std::int64_t id) {
  return through("replay_dead_letter", Way::write, [&] { return behind_.replay_dead_letter(id); });
}

Result<bool> NodeStore::discard_dead_letter(std::int64_t id) {
  return through("discard_dead_letter", Way::write, [&] { return behind_.discard_dead_letter(id); });
}

Result<std::optional<HostLock>> NodeStore::hold_lock(const std::string& name, const std::string& owner,
                                                     Duration length) {
  return through("hold_lock", Way::write, [&] { return behind_.hold_lock(name, owner, length); });
}

Result<void> NodeStore::drop_lock(const HostLock& lock) {
  return through("drop_lock", Way::write, [&] { return behind_.drop_lock(lock); });
}

Result<RowRetentionOutcome> NodeStore::retire_rows(const RowRetention& request) {
  return through("retire_rows", Way::write, [&] { return behind_.retire_rows(request); });
}

}  // namespace cairn::sim
