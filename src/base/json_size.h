// Computes the length of a written document, without writing it where possible.
#pragma once

#include <cstddef>
#include <optional>

#include "base/json.h"

namespace cairn {

// The document's length in bytes if it exceeds `bytes_max`; empty if it fits.
std::optional<std::size_t> written_beyond(const Json& value, std::size_t bytes_max);

}  // namespace cairn
