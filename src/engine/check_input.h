// Checks values that a program in the same process passes in. The JSON reader has checked values that come over HTTP. A
// value built in memory is unchecked, and an instance with a value that cannot be read back stays unreadable.
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/limits.h"
#include "base/result.h"
#include "instance/failure.h"

namespace cairn {

// ErrorCode::invalid: U+0000, text that is not UTF-8, a number that is not finite. ErrorCode::limit: too
// deep or too large. `what` names the value in the message.
Result<void> check_incoming(const Json& value, std::string_view what, const Limits& limits);
// The key of a reference or a signal: text or null, and short enough for an index.
Result<void> check_incoming_key(const Json& key, std::string_view what, const Limits& limits);
Result<void> check_incoming_text(std::string_view text, std::string_view what, const Limits& limits);
// For the end of a run, which must not be refused, because the run would only be repeated. A result that cannot be
// stored becomes the failure `invalid_result`; then it answers false. A failure that cannot be stored loses its
// details.
bool make_storable(Json& result, std::optional<Failure>& failure, const Limits& limits);

}  // namespace cairn
