#pragma once

#include "base/json.h"

namespace cairn {

// Applies RFC 7396: objects are merged, null removes, every other value replaces.
Json merge_patch(const Json& target, const Json& patch);
// What a patch changes: a list of {path, old, new} with JSON pointers. An absent value has no member. Of a value over
// 4 KiB, only its length and digest are given (`old_bytes`, `old_sha256`). After 50 changes, {more: N} counts the
// others.
Json changed_by(const Json& target, const Json& patch);
// Adds `value` as member `name` of a change, as above.
void put_value(Json& change, const std::string& name, const Json& value);

}  // namespace cairn
