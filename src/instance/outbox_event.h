// An event for other systems: of an `emit` step, or of the life cycle of instances, tasks and runs.
#pragma once

#include <string>

#include "base/id.h"
#include "base/json.h"

namespace cairn {

struct OutboxEvent {
  EventId id;
  std::string type;
  std::string subject;
  Json data;
  bool operator==(const OutboxEvent&) const = default;
};

}  // namespace cairn
