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
#include "store/postgres/commit/locked_rows.h"
#include "store/postgres/commit/snapshots_ahead.h"
#include "store/postgres/runs/known_leases.h"
#include "store/postgres/settled_events.h"
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
#include "store/back_end_functions.inc"
  void stop_waiting(std::chrono::milliseconds patience) override { pool_.stop(patience); }
  Result<void> check_writable() override;
  void keep_events(const EventPolicy& policy) override;
  Result<std::vector<CommitOutcome>> end_runs(std::span<const RunEnd> ends) override;
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override;
  Result<std::vector<QueueFault>> queue_faults(std::size_t max) override;
  Result<std::vector<SettingAdvice>> setting_advice() override;
  Result<SettledOutbox> settled_outbox() override;

 private:
  using Connection = postgres::Connection;
  // How long a change of one row waits for an SQL program that has it locked. It keeps a connection that others need.
  static constexpr std::chrono::milliseconds row_wait_max{1000};
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
  // `state`, if given, gets the SQLSTATE of the last failure.
  template <class T>
  Result<T> write(const std::function<Result<T>(Connection&)>& body, std::string* state = nullptr);
  enum class Written { yes, no };
  Result<Written> conclude(postgres::Session& session);
  Result<void> introduce(postgres::Session& session);
  // Why the tables that this node has opened are not there any more.
  std::optional<Error> find_loss(Connection& db);
  // The same for a statement that failed, or its own error.
  Error explain(Connection& db, Error error);
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

  // Parts of `commit`.
  enum class LockWait { brief, long_enough };
  Result<std::vector<CommitOutcome>> commit_batch(std::span<const Unit> units, LockWait lock_wait, bool& timed_out);
  Result<std::vector<CommitOutcome>> commit_unlocked(std::span<const Unit> units, bool timed_out);
  void hold_cause(const Unit& unit, Duration length);

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
  // Heartbeats and releases of different runs in one transaction. Those whose rows another transaction has locked are
  // in `skipped`.
  Result<std::vector<Result<RunChanged>>> change_leases(std::span<const RunChange> changes,
                                                        std::vector<std::size_t>& skipped);
  void repeat_heartbeats(std::span<const RunChange> changes, std::vector<std::size_t> beats,
                         std::vector<Result<RunChanged>>& answers);
  // Waits at most `lock_wait` for the row.
  Result<RunChanged> change_run(const RunChange& change, std::chrono::milliseconds lock_wait);
  void run_event(Connection& db, const RunId& run, std::string_view kind, Timestamp at, int attempt,
                 std::string_view actor, const Json& details);
  void insert_dead_letter(Connection& db, const DeadLetter& letter, Wakeup& wakeup);
  void append_audit_rows(Connection& db, std::span<const AuditRow> rows);
  Result<std::vector<OutboxRow>> claim_part(std::span<const SinkFilter> sinks, const OutboxClaim& claim,
                                            std::int64_t& assigned);
  void write_event(Connection& db, const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup);
  void send(Connection& db, const Message& message, Wakeup& wakeup);
  // One batch; `more` when it did not come to the end.
  // Finished and deleted runs without an instance.
  Result<void> retire_runs(const RowRetention& request, RowRetentionOutcome& outcome);
  SignalOutcome route(Connection& db, const CorrelatedSignal& signal, Wakeup& wakeup);

  postgres::ServerClock server_clock_;
  Clock& clock_;
  const Mode mode_;
  std::atomic<bool> newer_schema_ = false;  // another node has upgraded it: this node only reads
  std::int64_t identity_ = 0;               // of the tables
  std::atomic<bool> loss_said_ = false;
  postgres::Pool pool_;
  std::mutex listener_mutex_;
  WakeupListener listener_;

  std::mutex leasing_mutex_;
  postgres::KeysSeen keys_seen_;
  postgres::KnownLeases leases_;
  postgres::InstanceNumbers memory_;
  postgres::LockedRows locked_rows_;
  postgres::SettledEvents settled_events_;
  postgres::SnapshotsAhead ahead_;
  std::mutex retention_mutex_;
  // How far retention has come among the runs, by number. Behind `passed` only the runs in `kept` may be due one day.
  // If there are too many of them, `incomplete` is set, and a later sweep starts from the first run again.
  struct RetiredRuns {
    std::int64_t next = 0;  // where the next look begins
    std::int64_t passed = 0;
    std::vector<std::int64_t> kept;
    bool incomplete = false;
    Timestamp begun;  // when it started from the first run
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
