// Integers in foreign documents. JSON Schema takes 1.0 and 1e30 for integers too.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"

namespace cairn {

// An integer member; empty if it is absent or null. Other values, and integers beyond 64 bits, are an error.
inline Result<std::optional<std::int64_t>> integer_of(const Json& body, std::string_view name) {
  constexpr double beyond = 9223372036854775808.0;  // 2^63
  const Json& value = body[name];
  if (value.is_null()) return std::optional<std::int64_t>();
  if (value.is_integer()) return std::optional(value.as_integer());
  if (value.is_number()) {
    const double number = value.as_double();
    if (std::trunc(number) == number && number >= -beyond && number < beyond) {
      return std::optional(static_cast<std::int64_t>(number));
    }
  }
  return Error{ErrorCode::invalid, std::string(name) + ": must be an integer of 64 bits"};
}

}  // namespace cairn
