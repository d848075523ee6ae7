// Workers are bound to the types of runs that their credential names.
#pragma once

#include <optional>

#include "api/route.h"
#include "store/store.h"

namespace cairn::server {

// Types under `cairn.` are the engine's own: it makes these calls with its own rights, so no caller may submit,
// schedule or lease one.
bool is_reserved_type(std::string_view type);
// Whether a lease by this prefix would take such a type.
bool reaches_reserved_types(std::string_view prefix);

// The refusal of a call about runs that the caller may not work on.
std::optional<Response> outside_scope(Store& store, const Call& call);

}  // namespace cairn::server
