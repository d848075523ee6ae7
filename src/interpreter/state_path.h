// Assigning at a path into business state (S1).
#pragma once

#include <optional>
#include <string>

#include "definition/program.h"

namespace cairn {

// Why nothing can be assigned there: a value on the way is neither an object, nor null, nor absent.
std::optional<std::string> find_conflict(const Json& state, const StatePath& path);
// Makes missing and null objects on the way. Only after `find_conflict` found none.
void set_path(Json& state, const StatePath& path, Json value);

}  // namespace cairn
