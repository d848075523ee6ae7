// What may come in from a program in the same process. Over the wire the JSON reader refuses it
// already; a value built in memory has not been through it, and one that cannot be read back would
// make its instance unreadable for ever.
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
// A reference's or a signal's key: text or null, not too long to be found by.
Result<void> check_incoming_key(const Json& key, std::string_view what, const Limits& limits);
Result<void> check_incoming_text(std::string_view text, std::string_view what, const Limits& limits);
// For the end of a run, which must not be refused, because the run would only be repeated. A result that cannot be
// stored becomes the failure `invalid_result`; then it answers false. A failure that cannot be stored loses its
// details.
bool make_storable(Json& result, std::optional<Failure>& failure, const Limits& limits);

}  // namespace cairn
