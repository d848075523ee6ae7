// Parses JSON that a store wrote itself. Input limits may have been different at that time, and rows wrap the input. So
// this parser rejects only what no limit ever allowed.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn {

inline Result<Json> parse_stored(std::string_view text) {
  return parse_json(text, {.bytes_max = 256u << 20, .depth_max = 512});
}

}  // namespace cairn
