// src/instance holds the values of one workflow instance: Snapshot (its state at rest), Event (what happens to it) and
// Advance (what an event changes). It uses src/base only. Everything here is a plain value: no I/O, no clock, no
// threads. src/interpreter computes with these values and src/store writes them. Read Snapshot in this file first, then
// event.h and advance.h; `encode_snapshot` and `decode_snapshot` define the stored bytes.
//
// A Snapshot is one instance at rest: everything that resuming needs and nothing else. It copies cheaply (copies share
// the JSON), compares, and encodes to the same bytes everywhere.
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
#include "instance/pieces.h"
#include "instance/status.h"

namespace cairn {

// The program that an instance is pinned to.
struct ProgramKey {
  std::string name;
  std::string version;
  std::string digest;
  auto operator<=>(const ProgramKey&) const = default;
};

enum class WaitKind { task, timer, signal, subworkflow, run };
const char* to_string(WaitKind kind);
std::optional<WaitKind> wait_kind_from(std::string_view text);

// An open wait. Wake-ups carry its token; once the wait is closed they are stale. A deadline, a signal timeout and a
// reminder are separate timer waits on the same step.
struct Wait {
  WaitToken token;
  WaitKind kind = WaitKind::timer;
  std::string step;          // the step's id
  std::uint64_t strand = 0;  // the strand that waits
  Timestamp since;
  std::optional<Timestamp> until;  // timers
  std::string name;                // task name, signal name, child's workflow name, run type
  Json key;                        // signal: the expected key; null: any
  std::string target;              // task id, child instance id or run id
  bool operator==(const Wait&) const = default;
};

// One level of a strand's stack, outermost first. Blocks and steps are named by the readable places of the program, so
// people can read a snapshot and it never depends on indexes.
struct Frame {
  std::string kind;        // start, block, compensating, or the type of a step (see interpreter/strand.h)
  std::string place;       // the step's or block's place
  Json data;               // block: its position; step: what it remembers (iteration, pending error, tokens)
  std::string visit = {};  // step: its visit in the log, once a wait of it is over
  bool operator==(const Frame&) const = default;
};

struct Strand {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // the strand that joins it; 0: this is the main strand
  std::vector<Frame> frames;
  std::vector<WaitToken> waits;  // empty: it can run, or it joins other strands
  bool operator==(const Strand&) const = default;
};

// A signal that arrived before any step waited for it.
struct BufferedSignal {
  std::string id;
  std::string name;
  Json key;  // text or null
  Json payload;
  Timestamp at;
  // Set if the signal arrived while the instance was suspended: the state version that it made, until the open waits
  // have been offered the signal. 0: it did not.
  std::uint64_t held = 0;
  // When it becomes a dead letter, and the token of the timer that says so; absent: never.
  std::optional<Timestamp> until = {};
  WaitToken token = {};
  bool operator==(const BufferedSignal&) const = default;
};

// A task with `four_eyes` and a person who completed it.
struct CompletedTask {
  std::string name;
  std::string by;
  bool operator==(const CompletedTask&) const = default;
};

// A registered undo (rule S15): the block to run and the loop variables of its round.
struct Compensation {
  std::string place;         // the place of the step that registered it
  std::uint64_t branch = 0;  // the strand that registered it (rule S32)
  Json scope;                // item, index and `as` names
  bool operator==(const Compensation&) const = default;
};

// A wake-up that arrived while the instance was suspended. On resume, wake-ups and signals are applied in the order of
// their state versions. The first event wins, as if the instance had not been suspended.
struct HeldWakeup {
  WaitToken token;
  Json result;  // the result of a run or a child; null for a timer
  std::optional<Failure> failure;
  std::uint64_t state_version = 0;  // the one that it made
  int attempt = 1;                  // the attempt of a run that succeeded
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
  std::uint64_t state_version = 0;  // grows by one with each commit; 0: not stored yet
  Status status = Status::running;
  Timestamp started_at;
  Timestamp changed_at;
  // Business data.
  Json input;
  Json state = Json::object();
  Reference reference;
  Json output;
  // Data of the engine.
  std::vector<Strand> strands;
  std::vector<std::uint64_t> ready;     // strands that can run, the next one last; empty at rest
  std::vector<Wait> waits;              // in the order they were opened
  std::vector<BufferedSignal> signals;  // kept signals; in an ended instance, those that no step took
  std::vector<Compensation> compensations;
  std::vector<CompletedTask> completed_tasks;  // each once
  std::vector<HeldWakeup> held;
  std::optional<Parent> parent;
  std::optional<Failure> error;        // the incident of a suspended instance or the reason of a failed one
  std::uint64_t failed_strand = 0;     // the strand with the incident; 0: none
  std::optional<Timestamp> slice_now;  // set while a checkpoint has cut a slice
  std::int64_t slice_steps = 0;        // steps begun in that slice so far
  std::uint64_t counter = 0;           // the source of new tokens, strand numbers and ids
  std::string last_event;              // the id of the event that made this version
  std::string trace;                   // the traceparent of the request that started it; empty: none
  StoredPieces pieces;                 // of the stored version that this one continues from; not encoded
  bool operator==(const Snapshot&) const = default;
};

// The place of a strand for people: steps[3].else[0].repeat[1]#2.
std::string resume_pointer(const Strand& strand);

// The encoding has a format number and a checksum and is canonical. `decode_snapshot` reads every released format. An
// inconsistent snapshot is ErrorCode::corrupt; a newer format is ErrorCode::unsupported. Format 2 has places of pieces
// (`encode_apart`), and format 1 has none.
inline constexpr int snapshot_format = 2;
int format_of(std::string_view encoded);
std::string encode_snapshot(const Snapshot& snapshot);
Result<Snapshot> decode_snapshot(std::string_view bytes);

}  // namespace cairn
