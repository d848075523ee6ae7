#pragma once

#include "base/json.h"

namespace cairn {

// Applies RFC 7396: objects are merged, null removes, every other value replaces.
Json merge_patch(const Json& target, const Json& patch);
// The places that a patch changes, as JSON pointers. The values are left out because they may be confidential. After 50
// places, `…` stands for the others.
Json changed_by(const Json& patch);

}  // namespace cairn
