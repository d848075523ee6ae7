// Writes one batch of units in one transaction. Everything about a unit is checked before anything of it is written, so
// a refused unit leaves no trace and needs no savepoint. Read `run` first.
#pragma once

#include <set>

#include "store/sqlite/sqlite_store.h"

namespace cairn {

class SqliteCommit {
 public:
  // The caller holds the writer's mutex.
  explicit SqliteCommit(SqliteStore& store);

  // Errors as in Store::commit_unsynced. `wakeup` and the marks of taken items are valid only after it. Without `more`
  // the commit is synced too. Every received unit is added to `given`, whatever its outcome.
  Result<std::vector<CommitOutcome>> run(std::span<const Unit> units, const Store::MoreUnits& more,
                                         std::vector<const Unit*>& given);

  const Wakeup& wakeup() const { return wakeup_; }

 private:
  // The stored state of an instance of the unit.
  struct Place {
    std::int64_t number = 0;  // 0: not stored yet
    std::uint64_t state_version = 0;
    bool alike = false;                    // stored with this status and definition, without a reference or an error
    const Snapshot* last = nullptr;        // the snapshot after the unit
    const std::string* encoded = nullptr;  // its bytes, if encoded ahead
    const PieceChanges* pieces = nullptr;  // what these change, if anything
  };
  using Places = std::map<std::string, Place>;
  // The run that the unit ends, as `refuse` found it.
  struct Ending {
    std::int64_t number = 0;
    int attempt = 0;
    bool limited = false;  // other runs of its type may wait for its end
  };

  std::optional<CommitOutcome> refuse(const Unit& unit, Places& places);
  void apply(const Unit& unit, Places& places, CommitOutcome& outcome);
  void store_instance(Place& place, const std::string& node);
  void open_waits(std::int64_t number, const Advance& advance);
  void change_tasks(std::int64_t number, const Advance& advance, const std::string& actor);
  void change_runs(const Advance& advance, const Unit& unit, CommitOutcome& outcome);
  void write_log(std::int64_t number, const Advance& advance);
  void end_run(const RunEnd& end);
  void claim_kept(const Place& place);
  void claim_kept(std::int64_t number, const std::vector<Wait>& waits);
  void claim_next(std::int64_t number);

  SqliteStore& store_;
  sqlite::Connection& db_;
  Timestamp now_;
  Wakeup wakeup_;
  Ending ending_;
  std::vector<AuditRow> audit_;
  std::vector<std::int64_t> messages_gone_;
  std::vector<SqliteStore::TimerKey> timers_gone_;
};

}  // namespace cairn
