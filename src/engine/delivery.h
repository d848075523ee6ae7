// What brings an event to an instance, and what can come of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/slice.h"
#include "engine/snapshot_cache.h"
#include "instance/event.h"
#include "store/unit.h"

namespace cairn {

// An event for one instance, with what caused it.
struct Delivery {
  InstanceId instance;
  EventBody what;
  std::string actor;
  std::optional<std::uint64_t> state_version;  // the caller decided on this one
  Unit cause;                                  // message, timer, run, key, inbox or task; no advances
  std::optional<Message> message;              // the whole of it, for the dead letters
  std::optional<RunId> cancels;                // this run, in the same commit
};

// A new instance.
struct Start {
  std::string definition;
  std::optional<std::string> version;  // absent: the newest
  Started event;
  std::string actor;
  std::optional<IdempotencyKey> key;
};

// What came of a delivery or a start that the engine could decide on.
struct Delivered {
  enum class Kind { applied, stale, duplicate_signal, duplicate_key };
  Kind kind = Kind::applied;
  SharedSnapshot after;                // the instance; nullptr for the duplicate key of a start
  Json answer;                         // duplicate_key: what was kept with the first request
  bool same_request = true;            // duplicate_key
  std::vector<InstanceId> unfinished;  // interrupted by a checkpoint
};

// Why nothing could be decided or written.
struct DeliveryError {
  enum class Kind {
    refused,  // by the interpreter: the caller is told
    no_instance,
    moved,          // not at the state version that the caller has seen
    cut,            // in the middle of a slice, which continues first
    no_definition,  // not here, perhaps not yet
    unreadable,     // the snapshot or message does not add up
    store,          // the store cannot do it now
  };
  Kind kind = Kind::refused;
  Error error;
};

// A slice that is ready to be committed, and what it was decided on.
struct Decision {
  Slice slice;
  SharedSnapshot before;
  bool from_cache = false;
};

}  // namespace cairn
