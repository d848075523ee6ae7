// The store that many nodes share: PostgreSQL, with pipelined statements and the server's clock for all nodes.
//
// Items taken from a queue are marked in this process only. Two nodes may process the same message; the one that
// commits second finds it gone. So a crash releases everything at once.
//
// The folders: wire/ (connections, pool, parameters, rows), commit/ (writing units), runs/ (leasing), cluster/
// (wake-ups between nodes). Read PostgresStore::write in wire/transaction.h and commit/postgres_commit.h first.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/clock.h"
#include "store/lifecycle.h"
#include "store/postgres/commit/instance_numbers.h"
#include "store/postgres/commit/keys_seen.h"
#include "store/postgres/commit/snapshots_ahead.h"
#include "store/postgres/runs/known_leases.h"
#include "store/postgres/runs/uncommitted_leases.h"
#include "store/postgres/wire/pool.h"
#include "store/postgres/wire/server_clock.h"
#include "store/store.h"

namespace cairn {

namespace postgres {
class Channel;
class Hints;
}  // namespace postgres

class PostgresStore final : public Store {
 public:
  enum class Mode { own, read_only };
  // `clock` is used only if the URL says so. In mode `own` it creates and migrates the schema. In mode `read_only`
  // every function that writes answers ErrorCode::not_allowed.
  static Result<std::unique_ptr<PostgresStore>> open(const std::string& url, Clock& clock, Mode mode = Mode::own);
  ~PostgresStore() override;

  const StoreTraits& traits() const override { return traits_; }
  Timestamp now() override;
  Result<int> schema_version() override;
  Result<void> check_writable() override;
  void watch(WakeupListener listener) override;
  void stop_waiting() override { pool_.stop(); }
  void keep_events(const EventPolicy& policy) override;

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
  Result<std::vector<CommitOutcome>> end_runs(std::span<const RunEnd> ends) override;
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
  using Connection = postgres::Connection;
  struct TimerKey {
    std::int64_t due;
    std::string instance, token;
    bool operator==(const TimerKey&) const = default;
  };
  struct TimerHash {
    std::size_t operator()(const TimerKey& key) const noexcept {
      const std::hash<std::string> hash;
      return hash(key.instance) ^ (hash(key.token) + static_cast<std::size_t>(key.due)) * 31;
    }
  };
  struct ReadingTimers;
  friend class PostgresCommit;

  PostgresStore(postgres::Target target, Clock& clock, Mode mode);

  std::optional<Error> refusal() const;
  // Runs `body` on a connection, and once more if the connection turns out to be dead. For functions that only read or
  // that may run twice.
  template <class T>
  Result<T> read(const std::function<Result<T>(Connection&)>& body);
  // Runs `body` in one transaction and retries if the server asks for it. If the answer of the commit is lost, the
  // store looks up whether it happened. A commit is never sent twice.
  template <class T>
  Result<T> write(const std::function<Result<T>(Connection&)>& body);
  enum class Written { yes, no };
  Result<Written> conclude(postgres::Session& session);
  Result<void> introduce(postgres::Session& session);
  // Whether a transaction with this number was committed. After the call it can no longer commit.
  Result<Written> look_up(const std::string& writer, std::int64_t number);

  // Reads the server's clock if the last reading is old.
  void read_clock(Connection& db);
  // Leases and ends without runs, so that the server plans these statements ahead.
  void rehearse_leases(Connection& db);
  // Passes the wake-up to the listener and to other nodes.
  void tell(const Wakeup& wakeup);
  void hear(const Wakeup& wakeup);
  void forget_marks();

  // Parts of transactions. `other_events` are events of other runs that belong to the same transaction.
  std::vector<postgres::LeasedTogether> insert_runs(Connection& db, const std::vector<RunRow>& rows,
                                                    const postgres::RowList& other_events, Timestamp at,
                                                    Wakeup& wakeup);
  // Removes the rows of leases that this process knows to have ended.
  void forget_leases(Connection& db);
  // Reads the snapshots for a batch of timers, which the caller will request one by one.
  void read_ahead(const std::map<std::int64_t, std::string>& instances);  // by number
  void insert_fresh(Connection& db, std::span<const RunRow> given, Timestamp at);
  std::size_t send_submission(Connection& db, std::span<const RunRow> given, Timestamp at);
  Result<RunRow> find_submitted(Connection& db, const RunRow& run, const std::string& uuid);
  void run_event(Connection& db, const RunId& run, std::string_view kind, Timestamp at, int attempt,
                 std::string_view actor, const Json& details);
  void insert_dead_letter(Connection& db, const DeadLetter& letter);
  void append_audit_rows(Connection& db, std::span<const AuditRow> rows);
  Result<std::vector<OutboxRow>> claim_part(std::span<const SinkFilter> sinks, const OutboxClaim& claim,
                                            std::int64_t& assigned);
  void write_event(Connection& db, const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup);
  void send(Connection& db, const Message& message, Wakeup& wakeup);
  // One batch; `more` when it did not come to the end.
  Result<std::size_t> retire_runs(Timestamp before, std::size_t max, bool& more);
  SignalOutcome route(Connection& db, const CorrelatedSignal& signal, Wakeup& wakeup);

  postgres::ServerClock server_clock_;
  Clock& clock_;
  const Mode mode_;
  std::atomic<bool> newer_schema_ = false;  // another node has upgraded it: this node only reads
  postgres::Pool pool_;
  std::mutex listener_mutex_;
  WakeupListener listener_;

  std::mutex leasing_mutex_;
  postgres::UncommittedLeases uncommitted_leases_;
  postgres::KeysSeen keys_seen_;
  postgres::KnownLeases leases_;
  postgres::InstanceNumbers memory_;
  postgres::SnapshotsAhead ahead_;
  std::mutex retention_mutex_;
  // How far retention has come among the runs, by number. Behind `passed` only the runs in `kept` may be due one day.
  struct RetiredRuns {
    std::int64_t next = 0;  // where the next look begins
    std::int64_t passed = 0;
    std::vector<std::int64_t> kept;
  };
  RetiredRuns retired_runs_;
  std::mutex marks_mutex_;
  std::map<std::int64_t, Timestamp> held_messages_;
  std::unordered_map<TimerKey, Timestamp, TimerHash> held_timers_;
  // Timers written while another thread reads the due ones. Its result may still contain them.
  std::size_t timer_readers_ = 0;
  std::unordered_set<TimerKey, TimerHash> gone_timers_;

  StoreTraits traits_;
  std::unique_ptr<postgres::Channel> channel_;
  std::unique_ptr<postgres::Hints> hints_;
};

}  // namespace cairn
