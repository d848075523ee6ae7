// JSON that a store wrote itself. The limits at the doors may have been others then, and rows wrap what came through
// them: only what no door ever let in is refused here.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn {

inline Result<Json> parse_stored(std::string_view text) {
  return parse_json(text, {.bytes_max = 256u << 20, .depth_max = 512});
}

}  // namespace cairn
