// Workers are restricted to the run types that their credential names.
#pragma once

#include <optional>

#include "api/route.h"
#include "store/run_store.h"

namespace cairn::api {

// Types under `cairn.` are reserved: the engine makes these calls with its own rights, so no caller may submit,
// schedule or lease one.
bool is_reserved_type(std::string_view type);
// Whether a lease by this prefix would include a reserved type.
bool reaches_reserved_types(std::string_view prefix);

// The refusal of a call for runs outside the caller's types; empty if allowed.
std::optional<Response> outside_scope(RunStore& store, const Call& call);

}  // namespace cairn::api
