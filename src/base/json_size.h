// How long a document is when it is written, found out without writing it wherever that is possible.
#pragma once

#include <cstddef>
#include <optional>

#include "base/json.h"

namespace cairn {

// Its length in bytes when that is more than `bytes_max`; nothing when it fits.
std::optional<std::size_t> written_beyond(const Json& value, std::size_t bytes_max);

}  // namespace cairn
