// Numbers for advisory locks, made of what they protect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::postgres {

// The same on every node; two different things share one only by accident, which costs a wait and nothing else.
std::int64_t lock_key(std::string_view kind, const std::string& schema, std::string_view name = {},
                      std::string_view detail = {});

}  // namespace cairn::postgres
