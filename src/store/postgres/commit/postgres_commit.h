// Writes one batch of units in one transaction and two round trips. The first locks and reads everything that the units
// depend on into a small image. On that image each unit is refused or applied in order, as in the memory store. The
// second sends all accepted writes, one array of rows per table. If nothing must be read, one round trip is enough
// (OptimisticCommit). Read `run` first.
#pragma once

#include <deque>
#include <map>
#include <set>

#include "store/postgres/commit/commit_image.h"
#include "store/postgres/commit/commit_writes.h"
#include "store/postgres/commit/optimistic_commit.h"
#include "store/postgres/commit/piece_writes.h"
#include "store/postgres/postgres_store.h"

namespace cairn {

class PostgresCommit {
 public:
  PostgresCommit(PostgresStore& store, postgres::Connection& db, std::span<const Unit> units);

  // Call it inside a transaction; the caller commits. An error of the connection means that nothing was written. With
  // `may_skip_reading` the outcomes hold only if the transaction commits (`assumed`). If it fails with
  // ErrorCode::conflict, run it again without.
  Result<std::vector<CommitOutcome>> run(bool may_skip_reading);
  bool assumed() const { return assumption_.has_value(); }
  // Caches what later commits need not read. Call it after this one has committed.
  void remember() const;

  const Wakeup& wakeup() const { return wakeup_; }
  const std::vector<std::int64_t>& messages_gone() const { return messages_gone_; }
  const std::vector<DueTimer>& timers_gone() const { return timers_gone_; }
  const std::vector<postgres::LeasedTogether>& leased() const { return leased_; }

 private:
  bool continues_earlier(const Unit& unit) const;
  void flush();
  void apply(const Unit& unit, CommitOutcome& outcome);
  void apply_advance(const Advance& advance, const Unit& unit, CommitOutcome& outcome);
  void change_tasks(const Advance& advance, const std::string& actor);
  void change_runs(const Advance& advance, const Unit& unit, CommitOutcome& outcome);
  void end_run(const RunEnd& end);
  void add_dead_letter(const DeadLetter& letter);
  const RunTypeRow* rule_of(const std::string& type) const;
  void free_slot(const std::string& type);
  void write_keys();
  void claim_kept();
  void claim_next();
  bool claim_one(std::int64_t number, const Wait& wait);

  PostgresStore& store_;
  postgres::Connection& db_;
  std::span<const Unit> units_;
  Timestamp now_;
  postgres::CommitImage image_;
  std::optional<postgres::OptimisticCommit> assumption_;
  postgres::CommitWrites writes_;
  postgres::PieceWrites pieces_;
  std::deque<std::string> own_texts_;  // of snapshots that were not encoded ahead
  Wakeup wakeup_;
  std::vector<std::int64_t> messages_gone_;
  std::vector<DueTimer> timers_gone_;
  std::vector<postgres::LeasedTogether> leased_;
  std::map<std::string_view, const Snapshot*> last_;  // the final snapshot of every accepted instance
  std::vector<CorrelatedSignal> signals_;
  std::vector<std::int64_t> claims_next_;  // instances, see claim_next
  std::vector<AuditRow> audit_;
};

}  // namespace cairn
