// One batch of units in one transaction. Everything about a unit is asked before anything of it is
// written, so that a refused one leaves no trace and needs no savepoint.
#pragma once

#include <set>

#include "store/sqlite/sqlite_store.h"

namespace cairn {

class SqliteCommit {
 public:
  // The writer's mutex is held by the caller.
  explicit SqliteCommit(SqliteStore& store);

  // ErrorCode as in Store::commit_unsynced; `wakeup` and the marks of what was taken are only right after it. Without
  // `more` it is settled too. Every unit that it was given goes into `given`, whatever becomes of it.
  Result<std::vector<CommitOutcome>> run(std::span<const Unit> units, const Store::MoreUnits& more,
                                         std::vector<const Unit*>& given);

  const Wakeup& wakeup() const { return wakeup_; }

 private:
  // Where an instance of the unit stands in the store.
  struct Place {
    std::int64_t number = 0;  // 0: not stored yet
    std::uint64_t version = 0;
    bool alike = false;              // stored with this status and definition, and without a reference or an error
    const Snapshot* last = nullptr;  // what it will be after the unit
    const std::string* encoded = nullptr;  // its bytes, when they were made ahead
  };
  using Places = std::map<std::string, Place>;
  // The run that the unit ends, as `refuse` found it.
  struct Ending {
    std::int64_t number = 0;
    int attempt = 0;
    bool limited = false;  // others of its type may wait for its end
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
