// One batch of units in one transaction and two round trips: first everything the units ask about is locked
// and read into a small image, on which each unit is refused or applied in order, just as the memory store
// would; then everything that the winners wrote goes to the server, a table an array of rows. One round trip when
// nothing needs to be asked (OptimisticCommit).
#pragma once

#include <map>
#include <set>

#include "store/postgres/commit/optimistic_commit.h"
#include "store/postgres/commit/commit_image.h"
#include "store/postgres/commit/commit_writes.h"
#include "store/postgres/postgres_store.h"

namespace cairn {

class PostgresCommit {
 public:
  PostgresCommit(PostgresStore& store, postgres::Connection& db, std::span<const Unit> units);

  // To be called inside a transaction; the caller commits. An error of the connection means that nothing
  // was written. When `may_skip_reading` the outcomes hold only if the transaction is committed (`assumed`); when it is not,
  // for ErrorCode::conflict, it is to be run again without.
  Result<std::vector<CommitOutcome>> run(bool may_skip_reading);
  bool assumed() const { return assumption_.has_value(); }
  // What later commits need not ask, once this one is committed.
  void remember() const;

  const Wakeup& wakeup() const { return wakeup_; }
  const std::vector<std::int64_t>& messages_gone() const { return messages_gone_; }
  const std::vector<DueTimer>& timers_gone() const { return timers_gone_; }
  const std::vector<postgres::LeasedTogether>& leased() const { return leased_; }

 private:
  bool goes_on(const Unit& unit) const;
  void flush();
  void apply(const Unit& unit, CommitOutcome& outcome);
  void apply_advance(const Advance& advance, const Unit& unit, CommitOutcome& outcome);
  void change_tasks(const Advance& advance, const std::string& actor);
  void change_runs(const Advance& advance, const Unit& unit, CommitOutcome& outcome);
  void end_run(const RunEnd& end);
  const RunTypeRow* rule_of(const std::string& type) const;
  void free_slot(const std::string& type);
  void settle_keys();
  void claim_kept();
  bool claim_one(std::int64_t number, const Wait& wait);

  PostgresStore& store_;
  postgres::Connection& db_;
  std::span<const Unit> units_;
  Timestamp now_;
  postgres::CommitImage image_;
  std::optional<postgres::OptimisticCommit> assumption_;
  postgres::CommitWrites writes_;
  Wakeup wakeup_;
  std::vector<std::int64_t> messages_gone_;
  std::vector<DueTimer> timers_gone_;
  std::vector<postgres::LeasedTogether> leased_;
  std::map<std::string_view, const Snapshot*> last_;  // of every instance that won, as it will be
  std::vector<CorrelatedSignal> signals_;
  std::vector<AuditRow> audit_;
};

}  // namespace cairn
