// Keys for advisory locks, derived from what they protect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::postgres {

// The same on every node. Two different things rarely share a key, which costs only a wait.
std::int64_t lock_key(std::string_view kind, const std::string& schema, std::string_view name = {},
                      std::string_view detail = {});

// The first key of the lock that shows that a node of the schema is running.
inline std::int32_t present_class(const std::string& schema) {
  return static_cast<std::int32_t>(lock_key("present", schema));
}

}  // namespace cairn::postgres
