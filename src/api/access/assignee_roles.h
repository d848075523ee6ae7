// The roles of a person to whom a caller assigns a task, as far as the server knows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/access/identity.h"
#include "base/result.h"
#include "store/access_store.h"

namespace cairn::api {

// From the person's API keys and their last tokens. Empty optional: not to be checked, because the server does not know
// the person, who may log in with a token later, or the person may complete every task. ErrorCode::not_allowed if no
// known credential of this person may work on tasks.
Result<std::optional<std::vector<std::string>>> assignee_roles(AccessStore& store, const Identity& caller,
                                                               const std::string& person);

}  // namespace cairn::api
