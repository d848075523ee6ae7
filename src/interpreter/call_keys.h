// The idempotency keys of calls that an operator retries. A failed call keeps its key in its own frame (step_call.cc).
// If a `try` with a `finally` is around it, that frame is gone when the `finally` runs, and a retry runs the whole
// `try` again. So the frame of the `try` remembers the failed calls by position, with their visit and a digest of the
// request.
#pragma once

#include "interpreter/steps.h"

namespace cairn {

// Instance, place, and rounds of the enclosing loops. With the visit it is the idempotency key, which does not depend
// on the attempt.
std::string call_position(const Turn& turn);
// A positive integer that a frame remembers; 0: none.
std::uint64_t number_in(const Json& data, std::string_view name);
// The digest of a request that a retry would repeat with an enclosing `try`, because its `finally` is still to come;
// otherwise empty.
std::string digest_for_try(const Turn& turn, const std::string& type, const Json& request);
// The visit whose key an earlier run of an enclosing `try` used here for the same request; 0: none. It is forgotten, so
// that each is used once.
std::uint64_t take_kept_visit(const Turn& turn, const std::string& position, const std::string& digest);
// The failed calls behind the error that `strand` raises, as a `try` remembers them; null: none.
Json failed_calls(Machine& machine, ActiveStrand& strand);

}  // namespace cairn
