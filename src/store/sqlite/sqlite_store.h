// The embedded store: one SQLite file in WAL mode with synchronous=FULL.
//
// One connection writes and checkpoints, under one mutex. Readers have their own connections. One process owns the file
// (see owner_lock.h). Items taken from a queue are only marked in memory: no other process could take them, and a crash
// releases all of them. Read sqlite_commit.h next.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/clock.h"
#include "store/lifecycle.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/file_check.h"
#include "store/sqlite/owner_lock.h"
#include "store/store.h"
#include "store/store_calls.h"

namespace cairn {

class SqliteStore final : public Store {
 public:
  enum class Mode { own, read_only };
  // The exit code of the process when a sync fails.
  static constexpr int sync_failure_exit = 74;
  // `clock` must outlive the store. In mode `own` it creates and migrates the file. In mode `read_only` the owner may
  // be running, and every function that writes answers ErrorCode::not_allowed. Without `run_events` the store writes no
  // audit trail of runs.
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& path, Clock& clock, Mode mode = Mode::own,
                                                   bool run_events = true);

  ~SqliteStore() override;

  const StoreTraits& traits() const override { return traits_; }
#include "store/back_end_functions.inc"
  Result<void> check_writable() override;
  Result<std::vector<StoreFault>> faults(std::size_t max) override;
  void release_caches() override;
  Result<std::vector<CommitOutcome>> commit_unsynced(std::span<const Unit> units, const MoreUnits& more) override;
  void sync() override;
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override;

 private:
  using TimerKey = std::tuple<std::int64_t, std::int64_t, std::string>;  // due, instance, token
  class Reader;
  friend class SqliteCommit;
  friend class SqliteLease;

  SqliteStore(std::string path, Clock& clock, Mode mode, bool run_events)
      : path_(std::move(path)), clock_(clock), mode_(mode), run_events_(run_events) {}

  // Why nothing can be written: the store is read-only, or a sync has failed and only a restart can tell what is on the
  // disk.
  std::optional<Error> refusal() const;
  // Handles a failed transaction. After a failed sync it ends the process.
  Error failed(Error error);
  [[noreturn]] void end_after_failed_sync(const Error& error) const;
  // Checked at the start of each transaction. The reasons are: another program has changed the schema, or the file was
  // replaced.
  std::optional<Error> refuse_to_write();
  std::optional<Error> file_fault();
  enum class PagesAre { whole, mended };  // mended: pages that were read before may have been wrong
  Result<PagesAre> check_pages();
  Result<void> open_as_owner();
  void continue_clock();
  void keep_latest_time();
  // Continues a list after a damaged page that `faults` has reported. For read-only stores.
  void pass_damage(sqlite::Connection& db, std::initializer_list<std::string_view> tables, std::int64_t from,
                   std::string& next_cursor) const;
  Reader reader();
  void tell(const Wakeup& wakeup) const;
  void send(const Message& message, Wakeup& wakeup);
  SignalOutcome route(const CorrelatedSignal& signal, Wakeup& wakeup);
  std::int64_t insert_dead_letter(const DeadLetter& letter, Wakeup& wakeup);
  std::optional<RunRow> submitted_before(const RunRow& run);
  void insert_run(RunRow& row, Wakeup& wakeup);
  // The rows of wf_run_types, cached because no other process writes them. The caller holds the writer.
  const std::map<std::string, RunTypeRow>& run_types();
  Result<std::size_t> assign_events(std::span<const SinkFilter> sinks, std::size_t max);
  Result<std::vector<OutboxRow>> claim_assigned(const OutboxClaim& claim, std::vector<DeadLetter>& unreadable);
  Result<void> give_up(const std::string& sink, std::span<const DeadLetter> unreadable);
  void keep_key(const IdempotencyKey& key, Timestamp at);
  Result<RunChanged> write_change(const RunChange& change, Wakeup& wakeup);
  // Whether the end of a run of this type may allow another run to start.
  bool limits_concurrency(const std::string& type);
  void run_event(std::int64_t run, std::string_view kind, int attempt, std::string_view actor, const Json& details);
  void task_event(std::int64_t task, TaskEvent::Kind kind, std::string_view actor, const Json& details);
  void remove_instance(std::int64_t number, const std::string& id);
  Result<std::map<std::string, std::string>> read_pieces(sqlite::Connection& db,
                                                         const std::vector<std::string>& hashes) const;
  // The caller holds the writer. Pieces that no instance uses afterwards are removed.
  void change_pieces(std::int64_t instance, const PieceChanges& changes);
  void write_event(const InstanceId& instance, const OutboxEntry& entry, Wakeup& wakeup);
  // The earliest of the schedules and the postponed events.
  std::optional<Timestamp> next_scheduled(Timestamp looked_at);

  std::string path_;
  Clock& clock_;
  Mode mode_;
  bool run_events_;
  // One process owns the file.
  StoreTraits traits_{.commits_unsynced = true, .keeps_encoded = true, .piece_bytes_min = piece_bytes_default};
  std::optional<sqlite::OwnerLock> owner_;
  std::optional<sqlite::FileIdentity> log_file_;
  std::optional<Error> newer_schema_;
  std::atomic<bool> foreign_ = true;        // another program may have written to the file; true until checked
  std::atomic<bool> write_failed_ = false;  // the last write failed because of the store
  bool file_fault_said_ = false;
  std::chrono::steady_clock::time_point file_checked_at_;
  bool opened_ = false;  // opened as the owner without faults
  WakeupListener listener_;

  StoreMutex writer_mutex_;
  std::unique_ptr<sqlite::Connection> writer_;
  Timestamp latest_time_;   // that the store knew when it was opened
  bool maybe_kept_ = true;  // a hint: false only if no signal is kept
  bool maybe_pieces_ = true;  // a hint: false only if there is no piece
  std::optional<std::map<std::string, RunTypeRow>> run_types_;
  std::map<std::int64_t, Timestamp> held_messages_;
  std::map<TimerKey, Timestamp> held_timers_;
  std::map<std::string, Timestamp> held_schedules_;

  std::mutex outbox_mutex_;                                               // locked after the writer's mutex
  std::map<std::string, std::map<std::int64_t, Timestamp>> held_outbox_;  // by sink
  std::vector<sqlite::DamagedPage> damaged_;                              // the result of `faults`

  std::mutex readers_mutex_;
  std::condition_variable reader_free_;
  std::vector<std::unique_ptr<sqlite::Connection>> idle_readers_;
  std::size_t readers_ = 0;
};

}  // namespace cairn
