// A store in plain containers under one mutex: the simplest implementation of the contract. For `cairn run`, tests, and
// as the model that the simulation compares other back ends with.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "store/lease_order.h"
#include "store/lifecycle.h"
#include "store/store.h"
#include "store/store_calls.h"

namespace cairn {

class MemoryStore : public Store {
 public:
  // `clock` must outlive the store.
  explicit MemoryStore(Clock& clock, bool run_events = true) : clock_(clock), run_events_(run_events) {}

  const StoreTraits& traits() const override { return traits_; }
  Timestamp now() override;
  Result<int> schema_version() override { return 1; }
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
  Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) override;
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override;
  Result<RunChanged> change_run(const RunChange& change) override;
  Result<std::vector<RunRow>> exhausted_runs(std::size_t max) override;
  Result<std::optional<RunRow>> find_run(const RunId& id) override;
  Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) override;
  Result<std::vector<RunEvent>> run_events(const RunId& id) override;
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
  struct Instance {
    std::int64_t number = 0;  // order of creation
    Snapshot snapshot;
    InstanceRow row;
    std::map<WaitToken, Wait> waits;
    std::vector<HistoryRow> history;
    std::set<std::string> inbox;
  };
  struct Task {
    std::int64_t number = 0;
    TaskRow row;
    std::vector<TaskEvent> events;
  };
  struct Run {
    std::int64_t number = 0;
    RunRow row;
    std::optional<Timestamp> attempt_until;  // while it is leased
    std::vector<RunEvent> events;
  };
  struct Key {
    KeyAnswer answer;
    Timestamp at;
  };
  struct Kept {
    CorrelatedSignal signal;
    Timestamp expires_at;
  };
  using TimerKey = std::tuple<Timestamp, std::int64_t, WaitToken>;  // due, instance number, token

  // The caller of these holds the mutex.
  std::optional<CommitOutcome> refuse(const Unit& unit) const;
  void apply(const Unit& unit, CommitOutcome& outcome, Wakeup& wakeup);
  void apply_advance(const Advance& advance, const Unit& unit, CommitOutcome& outcome, Wakeup& wakeup);
  void open_waits(Instance& instance, const Advance& advance, Wakeup& wakeup);
  void change_tasks(const Advance& advance, const std::string& actor);
  void insert_run(RunRow row, const std::optional<RunLease>& lease, CommitOutcome& outcome, Wakeup& wakeup);
  void end_run(const RunEnd& end, Wakeup& wakeup);
  void cancel_run(Run& run, const std::string& actor);
  void send(Message message, Wakeup& wakeup);
  SignalOutcome route(const CorrelatedSignal& signal, Wakeup& wakeup);
  void claim_kept(Instance& instance, Wakeup& wakeup);
  void remove_instance(const std::string& id);
  // True if no queue holds the event any more and it was not published yet.
  bool publish_if_taken(std::int64_t sequence);
  void write_event(const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup);
  // The earliest of the schedules and the postponed events.
  std::optional<Timestamp> next_scheduled(Timestamp looked_at) const;
  bool leasable(const Run& run, Timestamp at) const;
  static bool is_overdue(const Run& run, Timestamp at);
  void begin_attempt(Run& run, Timestamp at, Wakeup& wakeup);
  void run_event(Run& run, std::string_view kind, int attempt, std::string_view actor, const Json& details);
  // The slots that limited types use now. Drops starts that have left every window.
  LeaseSlots slots(Timestamp at, Wakeup& wakeup);
  bool limits_concurrency(const std::string& type) const;
  void tell(const Wakeup& wakeup) const;

  Clock& clock_;
  bool run_events_;
  const StoreTraits traits_;
  WakeupListener listener_;
  mutable StoreMutex mutex_;
  std::int64_t last_number_ = 0;
  std::vector<DefinitionRow> definitions_;  // in deployment order
  std::map<std::string, Instance> instances_;
  std::map<std::int64_t, std::string> instance_order_;
  std::map<std::string, Task> tasks_;
  std::map<std::string, Run> runs_;
  std::map<std::string, std::string> run_keys_;
  std::map<std::string, RunTypeRow> run_types_;
  std::map<std::string, std::vector<std::pair<Timestamp, std::string>>> run_starts_;  // type → time and limit key
  std::map<std::pair<std::string, std::string>, Key> keys_;
  std::map<std::int64_t, Message> messages_;
  std::map<std::int64_t, Kept> kept_;
  std::map<TimerKey, DueTimer> timers_;
  std::map<std::int64_t, OutboxRow> outbox_;
  std::int64_t published_up_to_ = 0;  // every event up to here is published, so searches for others skip them
  std::map<std::int64_t, DeadLetter> dead_;
  std::map<std::string, HostLock> locks_;
  std::map<std::int64_t, Timestamp> held_messages_;
  std::map<TimerKey, Timestamp> held_timers_;
  struct Queued {
    int attempts = 0;
    std::optional<Timestamp> held_until = {};  // until then it is claimed, or its retry is delayed
  };
  std::map<std::string, std::map<std::int64_t, Queued>> sink_queues_;  // by sink and sequence
  std::set<std::int64_t> unassigned_;                                  // events that are in no queue yet
  std::multimap<std::int64_t, SinkDelivery> deliveries_;               // by the event's sequence
  std::map<std::string, ScheduleRow> schedules_;
  std::map<std::string, Timestamp> held_schedules_;
  std::map<std::string, ApiKeyRow> api_keys_;
  std::map<std::string, TokenUserRow> token_users_;  // by account
  std::vector<AuditRow> audit_;
};

}  // namespace cairn
