// Deliveries, which bring an event to an instance, and their outcomes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/slice.h"
#include "engine/snapshot_cache.h"
#include "instance/event.h"
#include "store/unit.h"

namespace cairn {

// An event for one instance, with its cause.
struct Delivery {
  InstanceId instance;
  EventBody what;
  std::string actor;
  std::optional<std::uint64_t> state_version;  // the state version that the caller has seen
  Unit cause;                                  // message, timer, run, key, inbox or task; no advances
  std::optional<Message> message;              // the complete message, for dead letters
  std::optional<RunId> cancels;                // a run that the same commit cancels
};

// A new instance.
struct Start {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest
  Started event;
  std::string actor;
  std::optional<IdempotencyKey> key;
};

// The outcome of a delivery or a start that was decided.
struct Delivered {
  enum class Kind { applied, stale, duplicate_signal, duplicate_key };
  Kind kind = Kind::applied;
  SharedSnapshot after;                // the instance; nullptr for the duplicate key of a start
  Json answer;                         // duplicate_key: the answer that was stored with the first request
  bool same_request = true;            // duplicate_key
  std::vector<InstanceId> unfinished;  // interrupted by a checkpoint
};

// Why a delivery was not decided or not written.
struct DeliveryError {
  enum class Kind {
    refused,     // by the interpreter; the caller gets the error
    unwritable,  // the store refuses to write what was decided
    no_instance,
    moved,          // not at the state version that the caller has seen
    cut,            // in the middle of a slice, which must continue first
    no_definition,  // unknown on this node, or not yet known
    unreadable,     // the snapshot or message is corrupt
    store,          // the store cannot do it now
  };
  Kind kind = Kind::refused;
  Error error;
  std::string definition = {};  // the missing one
};

// A slice that is ready to be committed, and the snapshot that it is based on.
struct Decision {
  Slice slice;
  SharedSnapshot before;
  bool from_cache = false;
};

}  // namespace cairn
