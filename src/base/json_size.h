// Computes the length and the nesting of a document. The note of a large value (JsonNote) says both without a walk.
#pragma once

#include <cstddef>
#include <optional>

#include "base/json.h"

namespace cairn {

// The length of the document in bytes.
std::size_t written_length(const Json& value);
// The document's length in bytes if it exceeds `bytes_max`; empty if it fits.
std::optional<std::size_t> written_beyond(const Json& value, std::size_t bytes_max);
// The levels of arrays and objects; 0: a scalar.
int nesting(const Json& value);
// Whether arrays and objects are nested deeper than `levels`.
bool is_deeper_than(const Json& value, int levels);

}  // namespace cairn
