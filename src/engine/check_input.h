// What may come in from a program in the same process. Over the wire the JSON reader refuses it
// already; a value built in memory has not been through it, and one that cannot be read back would
// make its instance unreadable for ever.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"

namespace cairn {

// ErrorCode::invalid: U+0000, text that is not UTF-8, a number that is not finite. ErrorCode::limit: too
// deep or too large. `what` names the value in the message.
Result<void> check_incoming(const Json& value, std::string_view what, const Limits& limits);
// A reference's or a signal's key: text or null, not too long to be found by.
Result<void> check_incoming_key(const Json& key, std::string_view what, const Limits& limits);
Result<void> check_incoming_text(std::string_view text, std::string_view what, const Limits& limits);

}  // namespace cairn
