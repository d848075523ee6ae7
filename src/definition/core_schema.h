// The values of plain YAML scalars: the YAML 1.2 core schema without infinity and NaN.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn {

// The value of an unquoted scalar. A number too large for a double and `.inf`, `.nan` are errors.
Result<Json> resolve_plain(std::string_view text);

// Whether `text` without quotes would be read as something other than text.
bool is_plain_value(std::string_view text);

}  // namespace cairn
