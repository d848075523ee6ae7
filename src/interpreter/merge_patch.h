#pragma once

#include "base/json.h"

namespace cairn {

// RFC 7396: objects are merged, null removes, everything else replaces.
Json merge_patch(const Json& target, const Json& patch);
// Which places a patch names, as a list of JSON pointers; values may be nobody else's business. After 50 of them
// `…` says that there are more.
Json changed_by(const Json& patch);

}  // namespace cairn
