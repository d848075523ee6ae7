// Workers are bound to the types of runs that their credential names.
#pragma once

#include <optional>

#include "server/route.h"
#include "store/store.h"

namespace cairn::server {

// The refusal of a call about runs that the caller may not work on.
std::optional<Response> outside_scope(Store& store, const Call& call);

}  // namespace cairn::server
