// The unit of persistence: everything that one decision writes, with its cause. A store applies a unit in one
// transaction. If the store has changed since the decision, it answers stale and writes nothing of the unit.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "instance/advance.h"
#include "store/access_rows.h"
#include "store/rows.h"

namespace cairn {

// The key stays used while retention keeps it, whatever happens to what it started.
struct IdempotencyKey {
  std::string scope;  // start, task ID, signal, run, ...
  std::string key;
  std::string request_hash;  // the same key with another hash is another request
  Json answer;               // the answer to a repeat
};

// The end of a leased run. If `fence` or the status `leased` no longer matches, the unit is stale.
struct RunEnd {
  RunId run;
  std::uint64_t fence = 0;
  RunStatus status = RunStatus::succeeded;  // succeeded or failed
  Json result;
  Json error;  // {class, code, message, ...} of a failed one
  std::string actor;
  std::string trace = {};  // the traceparent that the run carries, for its end event
};

// The lease that new runs of these types start with. The node that committed the intent can make the call without a
// second request.
struct RunLease {
  std::string owner;
  Duration length;
  std::vector<std::string> types;
};

struct Unit {
  // Applied in order. An instance may advance several times, together with its children and continuations. The first
  // Advance of an instance must find it at `from_state_version` (0: not stored yet). A store does not read `starts`,
  // `children_cancelled` and `notice`: the engine turns them into further advances or `messages`.
  std::vector<Advance> advances;

  // The cause, which the unit removes or ends. If the message or timer is gone, the unit is stale.
  std::optional<std::int64_t> message;
  std::optional<DueTimer> timer;
  std::optional<RunEnd> run;
  std::optional<IdempotencyKey> key;
  struct Inbox {
    InstanceId instance;
    std::string signal;
  };
  std::optional<Inbox> inbox;  // a second unit with the same two is a duplicate_signal
  // The task row that the decision was based on. If it has changed or is closed, the unit is stale.
  struct TaskGuard {
    TaskId task;
    std::uint64_t state_version = 0;
  };
  std::optional<TaskGuard> task;

  // What the unit sends. The store sets message ids and times.
  std::vector<Message> messages;
  std::vector<CorrelatedSignal> signals;  // routed like `record_signal`
  std::vector<DeadLetter> dead_letters;
  std::vector<OutboxEvent> incidents;  // written if the policy of life-cycle events wants them
  std::optional<RunLease> lease;
  // The limit keys of new runs. Runs not listed here count by their type alone.
  std::vector<std::pair<RunId, std::string>> limit_keys;

  // The audit rows (store/audit_scope.h), which are appended if the unit is done.
  std::vector<AuditRow> audit;

  std::string actor;  // the node that made this commit

  // The result of `encode_ahead`: the encoded snapshot of each advance. Empty if a later advance of the unit replaces
  // it. The store encodes missing ones itself.
  std::vector<std::string> encoded;
  // What each of these changes for the pieces of its instance (instance/pieces.h). Empty: nothing for any.
  std::vector<PieceChanges> pieces;
  const PieceChanges* pieces_of(std::size_t advance) const {
    return advance < pieces.size() && !pieces[advance].empty() ? &pieces[advance] : nullptr;
  }
};

// Encodes the snapshots that the unit leaves behind, with values of `piece_bytes_min` and more apart. The caller of the
// commit does this, so the single writer thread does not have to.
void encode_ahead(Unit& unit, std::size_t piece_bytes_min);
// The same for one advance, the last of its instance (unit_pieces.cc).
void encode_last(Unit& unit, std::size_t advance, std::size_t piece_bytes_min);

struct CommitOutcome {
  enum class Kind {
    done,
    stale,             // read again and decide again
    duplicate_key,     // `answer` is the first answer; `same_request` tells whether the hash matches
    duplicate_signal,  // this signal id was already applied to this instance
    failed,            // nothing of this unit was written, and a retry cannot help
  };
  Kind kind = Kind::done;
  Json answer;
  bool same_request = true;
  Error error;
  std::vector<RunRow> leased;  // new runs that started leased
};

inline CommitOutcome outcome_of(CommitOutcome::Kind kind, Error error = {}) {
  CommitOutcome outcome;
  outcome.kind = kind;
  outcome.error = std::move(error);
  return outcome;
}

}  // namespace cairn
