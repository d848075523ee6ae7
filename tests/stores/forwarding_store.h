// A store that forwards every call to another one. Tests override the calls that they want to observe or change.
#pragma once

#include <utility>

#include "store/store.h"

namespace cairn {

class ForwardingStore : public Store {
 public:
  // `behind` must outlive it.
  explicit ForwardingStore(Store& behind) : behind_(behind), traits_(behind.traits()) {
    // These verbs are not forwarded.
    traits_.commits_unsynced = false;
    traits_.ends_runs_directly = false;
  }

  const StoreTraits& traits() const override { return traits_; }
  Timestamp now() override { return behind_.now(); }
  Result<int> schema_version() override { return behind_.schema_version(); }
  Result<void> check_writable() override { return behind_.check_writable(); }
  Result<std::vector<StoreFault>> faults(std::size_t max) override { return behind_.faults(max); }
  void watch(WakeupListener listener) override { behind_.watch(std::move(listener)); }
  void release_caches() override { behind_.release_caches(); }
  void stop_waiting(std::chrono::milliseconds patience) override { behind_.stop_waiting(patience); }
  void keep_events(const EventPolicy& policy) override { behind_.keep_events(policy); }
  Result<PutDefinition> put_definition(const DefinitionRow& row) override { return behind_.put_definition(row); }
  Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                       const std::optional<std::string>& version) override {
    return behind_.find_definition(name, version);
  }
  Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) override {
    return behind_.list_definitions(page);
  }
  Result<bool> retire_definition(const std::string& name, const std::string& version) override {
    return behind_.retire_definition(name, version);
  }
  Result<std::optional<Snapshot>> find_snapshot(const InstanceId& id) override { return behind_.find_snapshot(id); }
  void keep_apart(std::size_t piece_bytes_min) override {
    behind_.keep_apart(piece_bytes_min);
    traits_.piece_bytes_min = piece_bytes_min;
    traits_.keeps_encoded = behind_.traits().keeps_encoded;
  }
  Result<std::vector<std::string>> list_pieces(const InstanceId& id) override { return behind_.list_pieces(id); }
  Result<std::vector<PieceFault>> piece_faults(std::size_t max) override { return behind_.piece_faults(max); }
  Result<std::size_t> collect_pieces(std::size_t max) override { return behind_.collect_pieces(max); }
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override { return behind_.commit(units); }
  Result<std::optional<KeyAnswer>> find_key(const std::string& scope, const std::string& key) override {
    return behind_.find_key(scope, key);
  }
  Result<void> park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                    std::optional<std::int64_t> message) override {
    return behind_.park(id, why, letter, message);
  }
  Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) override {
    return behind_.mark_deleted(id, reason);
  }
  Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) override { return behind_.record_signal(signal); }
  Result<Page<KeptSignal>> list_signals(const SignalFilter& filter, const PageRequest& page) override {
    return behind_.list_signals(filter, page);
  }
  Result<bool> discard_signal(std::int64_t number) override { return behind_.discard_signal(number); }
  Result<std::size_t> expire_signals(std::size_t max) override { return behind_.expire_signals(max); }
  Result<std::vector<DueTimer>> take_timers(std::size_t max, Duration hold) override {
    return behind_.take_timers(max, hold);
  }
  Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) override {
    return behind_.take_messages(max, hold);
  }
  void give_back(const DueTimer& timer) override { behind_.give_back(timer); }
  void give_back_message(std::int64_t message) override { behind_.give_back_message(message); }
  using Store::next_due;
  Result<std::optional<Timestamp>> next_due(Timestamp looked_at) override { return behind_.next_due(looked_at); }
  Result<std::pair<RunRow, bool>> submit_run(const RunRow& run) override { return behind_.submit_run(run); }
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override { return behind_.lease_runs(request); }
  Result<RunChanged> change_run(const RunChange& change) override { return behind_.change_run(change); }
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override {
    return behind_.change_runs(changes);
  }
  Result<std::vector<RunRow>> exhausted_runs(std::size_t max) override { return behind_.exhausted_runs(max); }
  Result<std::optional<RunRow>> find_run(const RunId& id) override { return behind_.find_run(id); }
  Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) override {
    return behind_.list_runs(filter, page);
  }
  Result<std::vector<RunEvent>> run_events(const RunId& id) override { return behind_.run_events(id); }
  Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) override { return behind_.submit_runs(runs); }
  Result<void> put_run_type(const RunTypeRow& row) override { return behind_.put_run_type(row); }
  Result<bool> remove_run_type(const std::string& type) override { return behind_.remove_run_type(type); }
  Result<std::vector<RunTypeRow>> list_run_types() override { return behind_.list_run_types(); }
  Result<std::vector<OutboxRow>> claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) override {
    return behind_.claim_outbox(sinks, claim);
  }
  Result<std::vector<std::string>> list_sink_queues() override { return behind_.list_sink_queues(); }
  Result<void> hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) override {
    return behind_.hold_outbox(sink, sequences, hold);
  }
  Result<std::size_t> record_sink_results(const std::string& sink, std::span<const SinkResult> events) override {
    return behind_.record_sink_results(sink, events);
  }
  Result<Page<OutboxRow>> list_outbox(const OutboxFilter& filter, const PageRequest& page) override {
    return behind_.list_outbox(filter, page);
  }
  Result<std::vector<SinkDelivery>> list_deliveries(std::int64_t sequence) override {
    return behind_.list_deliveries(sequence);
  }
  Result<bool> resend_outbox(std::int64_t sequence) override { return behind_.resend_outbox(sequence); }
  Result<PutSchedule> put_schedule(const ScheduleRow& row) override { return behind_.put_schedule(row); }
  Result<std::optional<ScheduleRow>> find_schedule(const std::string& name) override {
    return behind_.find_schedule(name);
  }
  Result<Page<ScheduleRow>> list_schedules(const PageRequest& page) override { return behind_.list_schedules(page); }
  Result<bool> remove_schedule(const std::string& name) override { return behind_.remove_schedule(name); }
  Result<std::vector<ScheduleRow>> take_schedules(std::size_t max, Duration hold) override {
    return behind_.take_schedules(max, hold);
  }
  Result<void> put_api_key(const ApiKeyRow& row) override { return behind_.put_api_key(row); }
  Result<std::optional<ApiKeyRow>> find_api_key(const std::string& secret_hash) override {
    return behind_.find_api_key(secret_hash);
  }
  Result<std::vector<ApiKeyRow>> list_api_keys() override { return behind_.list_api_keys(); }
  Result<bool> revoke_api_key(const std::string& id) override { return behind_.revoke_api_key(id); }
  Result<void> put_token_user(const TokenUserRow& row) override { return behind_.put_token_user(row); }
  Result<std::vector<TokenUserRow>> find_token_users(const std::string& person) override {
    return behind_.find_token_users(person);
  }
  Result<void> append_audit(std::span<const AuditRow> rows) override { return behind_.append_audit(rows); }
  Result<Page<AuditRow>> list_audit(const PageRequest& page) override { return behind_.list_audit(page); }
  Result<TaskChanged> change_task(const TaskChange& change) override { return behind_.change_task(change); }
  Result<std::optional<TaskRow>> find_task(const TaskId& id) override { return behind_.find_task(id); }
  Result<Page<TaskRow>> list_tasks(const TaskFilter& filter, const PageRequest& page) override {
    return behind_.list_tasks(filter, page);
  }
  Result<std::vector<TaskEvent>> task_events(const TaskId& id) override { return behind_.task_events(id); }
  Result<std::optional<InstanceRow>> find_instance(const InstanceId& id) override { return behind_.find_instance(id); }
  Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) override {
    return behind_.list_instances(filter, page);
  }
  Result<Page<HistoryRow>> history(const InstanceId& id, const PageRequest& page) override {
    return behind_.history(id, page);
  }
  Result<std::vector<Wait>> list_waits(const InstanceId& id) override { return behind_.list_waits(id); }
  Result<std::vector<DueTimer>> list_timers(const InstanceId& id) override { return behind_.list_timers(id); }
  Result<std::vector<Message>> list_messages(const InstanceId& id) override { return behind_.list_messages(id); }
  Result<StoreFigures> figures(std::size_t most, std::size_t names_max) override {
    return behind_.figures(most, names_max);
  }
  Result<std::vector<QueueFault>> queue_faults(std::size_t max) override { return behind_.queue_faults(max); }
  Result<std::vector<SettingAdvice>> setting_advice() override { return behind_.setting_advice(); }
  Result<SettledOutbox> settled_outbox() override { return behind_.settled_outbox(); }
  Result<std::int64_t> put_dead_letter(const DeadLetter& letter) override { return behind_.put_dead_letter(letter); }
  Result<Page<DeadLetter>> list_dead_letters(const PageRequest& page) override {
    return behind_.list_dead_letters(page);
  }
  Result<bool> replay_dead_letter(std::int64_t id) override { return behind_.replay_dead_letter(id); }
  Result<bool> discard_dead_letter(std::int64_t id) override { return behind_.discard_dead_letter(id); }
  Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                            Duration length) override {
    return behind_.hold_lock(name, owner, length);
  }
  Result<void> drop_lock(const HostLock& lock) override { return behind_.drop_lock(lock); }
  Result<RetentionOutcome> retire_instances(const RetentionRequest& request) override {
    return behind_.retire_instances(request);
  }
  Result<RowRetentionOutcome> retire_rows(const RowRetention& request) override { return behind_.retire_rows(request); }

 protected:
  Store& behind_;
  StoreTraits traits_;
};

}  // namespace cairn
