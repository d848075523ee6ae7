// What the canonical form writes out and an author would not.
#pragma once

#include <span>

#include "base/json.h"
#include "definition/keys.h"

namespace cairn {

// Whether `value` at `key` of `object` is what reading the source without it would give.
bool is_left_out(const Json& object, const KeyTable& table, const Key& key, const Json& value);

// Only an author's id has the shape of a name; a made-up one is the step's place.
bool is_given_id(std::string_view id);

// The text of `{"$expr": text}`, or nullptr.
const Json* expression_of(const Json& value);

// Decompiling a stored form that does not add up gives source that does not compile, and no crash:
// nothing of what is not a list, not an object, not text.
std::span<const Json> items_of(const Json& value);
std::span<const Json::Member> members_of(const Json& value);
std::string_view text_of(const Json& value);

}  // namespace cairn
