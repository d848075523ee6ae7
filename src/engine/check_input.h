// Checks values that a program in the same process passes in. The JSON reader has checked values that come over HTTP. A
// value built in memory is unchecked, and an instance with a value that cannot be read back stays unreadable.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"

namespace cairn {

// ErrorCode::invalid: U+0000, text that is not UTF-8, a number that is not finite. ErrorCode::limit: too
// deep or too large. `what` names the value in the message.
Result<void> check_incoming(const Json& value, std::string_view what, const Limits& limits);
// The key of a reference or a signal: text or null, and short enough for an index.
Result<void> check_incoming_key(const Json& key, std::string_view what, const Limits& limits);
Result<void> check_incoming_text(std::string_view text, std::string_view what, const Limits& limits);

}  // namespace cairn
