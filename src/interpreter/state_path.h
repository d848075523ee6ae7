// Assigns to a path in the business state (rule S1).
#pragma once

#include <optional>
#include <string>

#include "definition/program.h"

namespace cairn {

// Why the path cannot be assigned: a value on the way is neither an object nor null nor missing. Empty if it can.
std::optional<std::string> find_conflict(const Json& state, const StatePath& path);
// Creates missing and null objects on the way. Call it only if `find_conflict` found no conflict.
void set_path(Json& state, const StatePath& path, Json value);

// The JSON pointer of a path, and the value there; nullptr: none.
std::string pointer_of(const StatePath& path);
const Json* find_value(const Json& state, const StatePath& path);

}  // namespace cairn
