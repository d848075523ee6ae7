// The parts of a canonical form that an author would omit.
#pragma once

#include <span>

#include "base/json.h"
#include "definition/keys.h"

namespace cairn {

// Whether `value` at `key` of `object` equals the default that reading produces without it.
bool is_left_out(const Json& object, const KeyTable& table, const Key& key, const Json& value);

// Only an author's id has the form of a name; a generated id is the step's place.
bool is_given_id(std::string_view id);

// The text of `{"$expr": text}`, or nullptr.
const Json* expression_of(const Json& value);

// These answer an empty value for JSON of the wrong kind. Decompiling an inconsistent stored form then gives source
// that does not compile, but never a crash.
std::span<const Json> items_of(const Json& value);
std::span<const Json::Member> members_of(const Json& value);
std::string_view text_of(const Json& value);

}  // namespace cairn
