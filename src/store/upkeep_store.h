// What operators and maintenance need: the health of the store, dead letters and retention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

struct RetentionRequest {
  std::vector<Status> statuses;  // final ones only; others are ignored
  Timestamp ended_before;
  std::size_t max = 100;  // root instances per batch
};
struct RetentionOutcome {
  std::size_t instances = 0;
  bool more = false;
};

// Removes rows that belong to no instance and are older than their time, in one batch. Absent: keep them.
struct RowRetention {
  std::optional<Timestamp> runs_before;    // finished runs without an instance, with their events
  std::optional<Timestamp> outbox_before;  // published events, with their deliveries
  std::optional<Timestamp> keys_before;    // idempotency keys
  std::optional<Timestamp> users_before;   // token users whose last token was accepted before
  std::size_t max = 1000;                  // rows of each kind
};
struct RowRetentionOutcome {
  std::size_t runs = 0;
  std::size_t outbox = 0;
  std::size_t keys = 0;
  std::size_t users = 0;
  bool more = false;
};

// The instances of a definition that have not ended.
struct DefinitionFigures {
  std::string definition;
  std::size_t active = 0;  // running or waiting
  std::size_t suspended = 0;
  bool operator==(const DefinitionFigures&) const = default;
};

// The runs of a type that wait for a worker: pending and due.
struct QueueFigures {
  std::string type;
  std::size_t ready = 0;
  std::optional<Timestamp> ready_since;  // of the oldest
  bool operator==(const QueueFigures&) const = default;
};

// Counts that an operator should watch, each counted up to a bound, and the oldest instants.
struct StoreFigures {
  std::size_t suspended = 0;  // instances
  std::size_t failed = 0;     // instances
  std::size_t tasks_open = 0;
  std::size_t runs_ready = 0;  // pending and due
  std::size_t runs_leased = 0;
  std::size_t messages = 0;  // not delivered yet
  std::size_t events_unpublished = 0;
  std::size_t dead_letters = 0;
  // The oldest of each; empty if there is none.
  std::optional<Timestamp> run_ready_since;
  // Since when a worker has had its lease. If no events of runs are kept: since its last heartbeat.
  std::optional<Timestamp> run_leased_since;
  std::optional<Timestamp> message_since;
  std::optional<Timestamp> event_since;
  std::optional<Timestamp> timer_due_since;
  // The first `names_max` by name, and then one entry without a name for all others together. Those with nothing to
  // count are missing.
  std::vector<DefinitionFigures> definitions;
  std::vector<QueueFigures> queues;
  bool operator==(const StoreFigures&) const = default;
};

// The part of a run's type that names its queue: up to its first dot, inclusive (`billing.` of `billing.charge.v1`).
// Without a dot: all of it.
inline std::string_view type_prefix(std::string_view type) {
  const std::size_t dot = type.find('.');
  return dot == std::string_view::npos ? type : type.substr(0, dot + 1);
}

// A run whose queue entry does not match its status.
struct QueueFault {
  enum class Kind {
    not_queued,   // pending, but no worker could lease it
    not_watched,  // leased, but the end of its lease would go unnoticed
    stray,        // queued as pending, but it is not pending or it is deleted
  };
  RunId run;
  Kind kind = Kind::not_queued;
  bool operator==(const QueueFault&) const = default;
};

// A piece (instance/pieces.h) or a use of one that does not fit to the rest of the store.
struct PieceFault {
  std::string hash;  // empty: the use names no piece
  std::string message;
  bool operator==(const PieceFault&) const = default;
};

// A setting of the database that an operator should change.
struct SettingAdvice {
  std::string what;
  std::string advice;
};

// A part of the store that cannot be read.
struct StoreFault {
  std::string place;    // page 12, log frame 3
  std::string subject;  // what is lost with it, as far as known: table, rows, ids
  std::string message;
  bool operator==(const StoreFault&) const = default;
};

class UpkeepStore : public virtual StoreBase {
 public:
  virtual Result<int> schema_version() = 0;
  // Whether a commit can be written now. The error gives the reason: a full or read-only disk, a server in recovery, a
  // missing file, a newer schema. It costs a read, or a small write after a failed write.
  virtual Result<void> check_writable() {
    CAIRN_TRY_VOID(schema_version());
    return {};
  }

  // For monitoring. Every count ends at `most`, and at most `names_max` definitions and run types have a count of their
  // own, so the call stays cheap.
  virtual Result<StoreFigures> figures(std::size_t most, std::size_t names_max = 1000) = 0;
  // The first `max` faults in a run queue that is separate from the runs. The answer is correct under concurrent
  // writes. A store whose runs are the queue has no such faults.
  virtual Result<std::vector<QueueFault>> queue_faults(std::size_t) { return std::vector<QueueFault>(); }

  // The hashes of the pieces that the instance uses, sorted.
  virtual Result<std::vector<std::string>> list_pieces(const InstanceId& id) = 0;
  // The first `max` faults: pieces that no instance uses, and uses without a piece or an instance.
  virtual Result<std::vector<PieceFault>> piece_faults(std::size_t max) = 0;
  // Removes pieces that no instance uses and that a commit had to leave to this call, at most `max`. Answers how many.
  virtual Result<std::size_t> collect_pieces(std::size_t max) = 0;

  // The first `max` damages below the rows, caused by the disk or another program. The check continues after each
  // fault.
  virtual Result<std::vector<StoreFault>> faults(std::size_t) { return std::vector<StoreFault>(); }

  // What to change in the settings of the database. A store without a database of its own has nothing to say.
  virtual Result<std::vector<SettingAdvice>> setting_advice() { return std::vector<SettingAdvice>(); }

  // Dead letters (StoreBase::put_dead_letter writes them). Replaying moves the envelope back to its queue in one
  // transaction. False if the letter does not exist; ErrorCode::unsupported if its kind cannot be replayed.
  virtual Result<Page<DeadLetter>> list_dead_letters(const PageRequest& page) = 0;
  virtual Result<bool> replay_dead_letter(std::int64_t id) = 0;
  virtual Result<bool> discard_dead_letter(std::int64_t id) = 0;

  // Removes whole trees of instances that ended long ago. It never touches active work and keeps idempotency keys.
  virtual Result<RetentionOutcome> retire_instances(const RetentionRequest& request) = 0;
  virtual Result<RowRetentionOutcome> retire_rows(const RowRetention& request) = 0;
};

}  // namespace cairn
