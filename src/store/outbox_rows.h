// The events of the outbox as rows, and which of them a sink wants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "instance/outbox_event.h"

namespace cairn {

struct OutboxRow {
  std::int64_t sequence = 0;
  InstanceId instance;
  OutboxEvent event;
  Timestamp created_at;
  std::optional<Timestamp> published_at;
  int attempts = 0;  // of a claimed event: the attempts of its sink so far
  bool operator==(const OutboxRow&) const = default;
};

// The events that a sink wants.
struct SinkFilter {
  std::string name;
  std::vector<std::string> types = {};  // prefixes of the event type; empty: all types

  bool wants(std::string_view type) const {
    if (types.empty()) return true;
    for (const std::string& prefix : types) {
      if (type.starts_with(prefix)) return true;
    }
    return false;
  }
};

}  // namespace cairn
