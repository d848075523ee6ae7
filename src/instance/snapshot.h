// One instance at rest: everything that resuming it needs, and nothing else. A value: it copies
// cheaply (its JSON is shared), compares, and encodes to the same bytes everywhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/json.h"
#include "base/time.h"
#include "instance/failure.h"

namespace cairn {

enum class Status { running, waiting, suspended, completed, failed, cancelled };
const char* to_string(Status status);
std::optional<Status> status_from(std::string_view text);
inline bool is_final(Status status) {
  return status == Status::completed || status == Status::failed || status == Status::cancelled;
}

// Which program an instance pins.
struct ProgramKey {
  std::string name;
  std::string version;
  std::string digest;
  auto operator<=>(const ProgramKey&) const = default;
};

// How people find an instance. `key` is text or null, `parts` an object.
struct Reference {
  Json key;
  Json parts = Json::object();
  bool operator==(const Reference&) const = default;
};

enum class WaitKind { task, timer, signal, subworkflow, run };
const char* to_string(WaitKind kind);
std::optional<WaitKind> wait_kind_from(std::string_view text);

// An open wait. Wake-ups carry the token; when it is no longer open they are stale.
// A deadline, a signal's timeout or a reminder is a timer wait of its own on the same step.
struct Wait {
  WaitToken token;
  WaitKind kind = WaitKind::timer;
  std::string step;          // the step's id
  std::uint64_t strand = 0;  // who waits
  Timestamp since;
  std::optional<Timestamp> until;  // timers
  std::string name;                // task name, signal name, child's workflow name, run type
  Json key;                        // signal: the key asked for, null: any
  std::string target;              // task id, child instance id or run id
  bool operator==(const Wait&) const = default;
};

// What a strand is in the middle of, outermost first. Blocks and steps are named by the program's
// readable places, so that a snapshot can be read by people and never depends on indexes.
struct Frame {
  std::string kind;   // start, block, compensating, or the type of a step (see interpreter/strand.h)
  std::string place;  // the step's or block's place
  Json data;          // block: its position; step: what it has to remember (iteration, pending error, tokens)
  bool operator==(const Frame&) const = default;
};

struct Strand {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // the strand that joins it; 0: the main strand's parent, none
  std::vector<Frame> frames;
  std::vector<WaitToken> waits;  // empty: can run (or joins other strands)
  bool operator==(const Strand&) const = default;
};

// A signal that came before anybody waited for it.
struct BufferedSignal {
  std::string id;
  std::string name;
  Json key;  // text or null
  Json payload;
  Timestamp at;
  // It came while the instance was suspended: the version it made, until the open waits have been offered it. 0: not
  // so.
  std::uint64_t held = 0;
  bool operator==(const BufferedSignal&) const = default;
};

// A registered undo (SEMANTICS S15): the block to run and the loop names of its round.
struct Compensation {
  std::string place;         // of the step that registered it
  std::uint64_t branch = 0;  // the strand that registered it (M5)
  Json scope;                // item, index and `as` names
  bool operator==(const Compensation&) const = default;
};

// A wake-up that came while the instance was suspended. When it goes on, wake-ups and signals are applied in the order
// of their versions: the first event wins, as if the instance had not been suspended.
struct HeldWakeup {
  WaitToken token;
  Json result;  // of a run or a child; null for a timer
  std::optional<Failure> failure;
  std::uint64_t version = 0;  // that it made
  int attempt = 1;            // of a run that succeeded
  bool operator==(const HeldWakeup&) const = default;
};

struct Parent {
  InstanceId instance;
  WaitToken token;
  bool operator==(const Parent&) const = default;
};

struct Snapshot {
  InstanceId instance;
  ProgramKey program;
  std::uint64_t version = 0;  // grows by one with each commit; 0: not stored yet
  Status status = Status::running;
  Timestamp started_at;
  Timestamp changed_at;
  // Business state.
  Json input;
  Json state = Json::object();
  Reference reference;
  Json output;
  // Engine state.
  std::vector<Strand> strands;
  std::vector<std::uint64_t> ready;     // strands that can run, the next one last; empty at rest
  std::vector<Wait> waits;              // in the order they were opened
  std::vector<BufferedSignal> signals;  // of an ended instance: those that nobody ever took
  std::vector<Compensation> compensations;
  std::vector<HeldWakeup> held;
  std::optional<Parent> parent;
  std::optional<Failure> error;        // the incident of a suspended instance, the reason of a failed one
  std::uint64_t failed_strand = 0;     // where the incident is; 0: in no strand
  std::optional<Timestamp> slice_now;  // set while a slice is cut by checkpoints
  std::int64_t slice_steps = 0;        // steps begun in that slice so far
  std::uint64_t counter = 0;           // tokens, strands and ids are derived from it
  std::string last_event;              // the id of the event that made this version
  std::string trace;                   // the traceparent of the request that started it; empty: its caller had none
  bool operator==(const Snapshot&) const = default;
};

// Where a strand stands, for people: steps[3].else[0].repeat[1]#2.
std::string resume_pointer(const Strand& strand);

// Versioned, checksummed, canonical. `decode_snapshot` reads every format that was ever released;
// anything that does not add up is ErrorCode::corrupt, a newer format is ErrorCode::unsupported.
inline constexpr int snapshot_format = 1;
std::string encode_snapshot(const Snapshot& snapshot);
Result<Snapshot> decode_snapshot(std::string_view bytes);

}  // namespace cairn
