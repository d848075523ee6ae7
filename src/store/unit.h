// The unit of persistence: everything that one decision writes, with what caused it. A store
// applies it in one transaction, or answers that the world has moved and writes nothing of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "instance/advance.h"
#include "store/access_rows.h"
#include "store/rows.h"

namespace cairn {

// Taken for as long as retention keeps it, whatever becomes of what it started.
struct IdempotencyKey {
  std::string scope;  // start, task ID, signal, run, ...
  std::string key;
  std::string request_hash;  // the same key with another hash is another request
  Json answer;               // what a repeat is told
};

// The end of a leased run. `fence` and the status `leased` must still match, else the unit is stale.
struct RunEnd {
  RunId run;
  std::uint64_t fence = 0;
  RunStatus status = RunStatus::succeeded;  // succeeded or failed
  Json result;
  Json error;  // {class, code, message, ...} of a failed one
  std::string actor;
  std::string trace = {};  // the traceparent that the run carries; for the event about its end
};

// The lease that new runs of these types begin with, so that the node that committed the intent
// makes the call without asking again.
struct RunLease {
  std::string owner;
  Duration length;
  std::vector<std::string> types;
};

struct Unit {
  // Applied in order; an instance may advance several times, its children and continuations with
  // it. The first Advance of an instance must find it at `from_version` (0: not stored yet).
  // `starts`, `children_cancelled` and `notice` are not read by a store: the coordinator turns them
  // into further advances or `messages`.
  std::vector<Advance> advances;

  // What caused it, removed or ended with it. A message or timer that is gone makes the unit stale.
  std::optional<std::int64_t> message;
  std::optional<DueTimer> timer;
  std::optional<RunEnd> run;
  std::optional<IdempotencyKey> key;
  struct Inbox {
    InstanceId instance;
    std::string signal;
  };
  std::optional<Inbox> inbox;  // a second unit with the same two is a duplicate_signal
  // The task row that the decision was made on: stale when it has changed since or is closed.
  struct TaskGuard {
    TaskId task;
    std::uint64_t version = 0;
  };
  std::optional<TaskGuard> task;

  // What it sends on. Message ids and times are given by the store.
  std::vector<Message> messages;
  std::vector<CorrelatedSignal> signals;  // routed as by `record_signal`
  std::vector<DeadLetter> dead_letters;
  std::optional<RunLease> lease;
  // By what the limits of their type count new runs; those not named here by their type alone.
  std::vector<std::pair<RunId, std::string>> limit_keys;

  // What the audit trail is to say about it (store/audit_scope.h): appended when the unit is done.
  std::vector<AuditRow> audit;

  std::string actor;  // who made this commit: the node

  // What `encode_ahead` made: the encoding of each advance's snapshot, or nothing where a later advance of
  // the unit replaces it. A store encodes by itself what is not here.
  std::vector<std::string> encoded;
};

// Encodes the snapshots that the unit will leave behind. Done by whoever asks for the commit, so that the
// one thread that writes for everybody need not.
void encode_ahead(Unit& unit);

struct CommitOutcome {
  enum class Kind {
    done,
    stale,             // read again and decide again
    duplicate_key,     // `answer` is the first one's; `same_request` tells whether the hash agrees
    duplicate_signal,  // this signal id was already applied to this instance
    failed,            // nothing of this unit was written, for a reason that trying again will not cure
  };
  Kind kind = Kind::done;
  Json answer;
  bool same_request = true;
  Error error;
  std::vector<RunRow> leased;  // of new runs that began leased
};

}  // namespace cairn
