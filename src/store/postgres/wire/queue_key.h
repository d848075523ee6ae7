// The position of a run in the queue of its type.
#pragma once

#include <cstdint>
#include <tuple>

#include "base/time.h"

namespace cairn::postgres {

struct QueueKey {
  std::int64_t priority = 0;
  Timestamp run_at;
  std::int64_t number = 0;

  bool operator==(const QueueKey&) const = default;
  bool operator<(const QueueKey& other) const {
    return std::tie(other.priority, run_at, number) < std::tie(priority, other.run_at, other.number);
  }
};

}  // namespace cairn::postgres
