#pragma once

#include "base/json.h"

namespace cairn {

// RFC 7396: objects are merged, null removes, everything else replaces.
Json merge_patch(const Json& target, const Json& patch);

}  // namespace cairn
