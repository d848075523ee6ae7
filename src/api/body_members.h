// Members of a request's body that the schema of the route takes for any text. Errors have the JSON pointer to the
// member, so that a client can show them beside its input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace cairn::api {

// The error, which is about the member at `pointer`: `/retry/backoff`. Its message begins with the name of the member.
Error wrong_member(const std::string& pointer, Error error);
// The error, whose places lead into the member at `pointer` and now begin at the body.
Error error_below(const std::string& pointer, Error error);

// The duration of a member; empty if it is absent. `above` is the pointer to `object`.
Result<std::optional<Duration>> duration_of(const Json& object, const std::string& name, const std::string& above = "");

}  // namespace cairn::api
