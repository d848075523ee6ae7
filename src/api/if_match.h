// If-Match: the state version that the caller has seen. A change of an instance, task or schedule that has another one
// is refused (412; api/precondition.h). Other changes refuse the header (400): it is never ignored.
#pragma once

#include "api/api.h"

namespace cairn::api {

// 400 if the operation changes something and takes no If-Match, or if the header is not a state version.
std::optional<Response> refuse_precondition(const Route& route, const Request& request);
// Reads If-Match: "7" or 7. Empty if absent; an error if it is not a state version.
Result<std::optional<std::uint64_t>> state_version_of(const Call& call);

}  // namespace cairn::api
