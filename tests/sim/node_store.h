// A node's connection to the store. A call can be slow, fail, lose its answer or be the last action of the node. Other
// activities always run between the store's answer and the node, so a node may see outdated data.
#pragma once

#include "store/store.h"

namespace cairn::sim {

class World;

class NodeStore final : public Store {
 public:
  NodeStore(World& world, int node, Store& behind);

  const StoreTraits& traits() const override { return traits_; }
  Timestamp now() override;
  Result<int> schema_version() override;
  Result<void> check_writable() override;
  Result<std::vector<StoreFault>> faults(std::size_t max) override;
  void watch(WakeupListener listener) override;
  Result<PutDefinition> put_definition(const DefinitionRow& row) override;
  Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                       const std::optional<std::string>& version) override;
  Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) override;
  Result<bool> retire_definition(const std::string& name, const std::string& version) override;
  Result<std::optional<Snapshot>> find_snapshot(const InstanceId& id) override;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override;
  Result<std::optional<KeyAnswer>> find_key(const std::string& scope, const std::string& key) override;
  Result<void> park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                    std::optional<std::int64_t> message) override;
  Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) override;
  Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) override;
  Result<std::vector<DueTimer>> take_timers(std::size_t max, Duration hold) override;
  Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) override;
  void give_back(const DueTimer& timer) override;
  void give_back_message(std::int64_t message) override;
  using Store::next_due;
  Result<std::optional<Timestamp>> next_due(Timestamp looked_at) override;
  Result<std::pair<RunRow, bool>> submit_run(const RunRow& run) override;
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override;
  Result<RunChanged> change_run(const RunChange& change) override;
  Result<std::vector<RunRow>> exhausted_runs(std::size_t max) override;
  Result<std::optional<RunRow>> find_run(const RunId& id) override;
  Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) override;
  Result<std::vector<RunEvent>> run_events(const RunId& id) override;
  Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) override;
  Result<void> put_run_type(const RunTypeRow& row) override;
  Result<bool> remove_run_type(const std::string& type) override;
  Result<std::vector<RunTypeRow>> list_run_types() override;
  Result<std::vector<OutboxRow>> claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) override;
  Result<std::vector<std::string>> list_sink_queues() override;
  Result<void> hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) override;
  Result<std::size_t> record_sink_results(const std::string& sink, std::span<const SinkResult> events) override;
  Result<Page<OutboxRow>> list_outbox(const OutboxFilter& filter, const PageRequest& page) override;
  Result<std::vector<SinkDelivery>> list_deliveries(std::int64_t sequence) override;
  Result<bool> resend_outbox(std::int64_t sequence) override;
  Result<PutSchedule> put_schedule(const ScheduleRow& row) override;
  Result<std::optional<ScheduleRow>> find_schedule(const std::string& name) override;
  Result<Page<ScheduleRow>> list_schedules(const PageRequest& page) override;
  Result<bool> remove_schedule(const std::string& name) override;
  Result<std::vector<ScheduleRow>> take_schedules(std::size_t max, Duration hold) override;
  Result<void> put_api_key(const ApiKeyRow& row) override;
  Result<std::optional<ApiKeyRow>> find_api_key(const std::string& secret_hash) override;
  Result<std::vector<ApiKeyRow>> list_api_keys() override;
  Result<bool> revoke_api_key(const std::string& id) override;
  Result<void> put_token_user(const TokenUserRow& row) override;
  Result<std::vector<TokenUserRow>> find_token_users(const std::string& person) override;
  Result<void> append_audit(std::span<const AuditRow> rows) override;
  Result<Page<AuditRow>> list_audit(const PageRequest& page) override;
  Result<TaskChanged> change_task(const TaskChange& change) override;
  Result<std::optional<TaskRow>> find_task(const TaskId& id) override;
  Result<Page<TaskRow>> list_tasks(const TaskFilter& filter, const PageRequest& page) override;
  Result<std::vector<TaskEvent>> task_events(const TaskId& id) override;
  Result<std::optional<InstanceRow>> find_instance(const InstanceId& id) override;
  Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) override;
  Result<Page<HistoryRow>> history(const InstanceId& id, const PageRequest& page) override;
  Result<std::vector<Wait>> list_waits(const InstanceId& id) override;
  Result<std::vector<DueTimer>> list_timers(const InstanceId& id) override;
  Result<std::vector<Message>> list_messages(const InstanceId& id) override;
  Result<StoreFigures> figures(std::size_t most) override;
  Result<std::vector<QueueFault>> queue_faults(std::size_t max) override;
  Result<std::int64_t> put_dead_letter(const DeadLetter& letter) override;
  Result<Page<DeadLetter>> list_dead_letters(const PageRequest& page) override;
  Result<bool> replay_dead_letter(std::int64_t id) override;
  Result<bool> discard_dead_letter(std::int64_t id) override;
  Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                            Duration length) override;
  Result<void> drop_lock(const HostLock& lock) override;
  Result<RetentionOutcome> retire_instances(const RetentionRequest& request) override;
  Result<RowRetentionOutcome> retire_rows(const RowRetention& request) override;

 private:
  enum class Way { read, write };
  template <class Call>
  auto through(const char* verb, Way way, const Call& call) -> decltype(call());

  World& world_;
  const int node_;
  Store& behind_;
  StoreTraits traits_;
};

}  // namespace cairn::sim
