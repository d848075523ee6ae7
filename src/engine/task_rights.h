// Who may do what with a human task. A person has a right to a task by one of its roles, or because the task has no
// roles. To be the assignee gives no right: an assignee who lacks or lost the roles cannot read or complete the task.
// Managers (tasks.manage, or a role among the task's `managers`) have a right to every task, and only they may take one
// from its assignee. Exclusion beats all of it.
//
// Each function gives the reason of a refusal (ErrorCode::not_allowed), or nothing.
#pragma once

#include <optional>

#include "base/result.h"
#include "engine/actor.h"
#include "store/store.h"

namespace cairn {

// Reading it and commenting on it.
std::optional<Error> refuse_reading(const TaskRow& task, const Actor& actor);
// The interpreter checks the exclusion once more, in the commit.
std::optional<Error> refuse_completion(const TaskRow& task, const Actor& actor);
// `assignee_roles`: what the new assignee may do; absent: unknown, not checked.
std::optional<Error> refuse_change(const TaskRow& task, const TaskChange& change, const Actor& actor,
                                   const std::optional<std::vector<std::string>>& assignee_roles);

// The roles whose tasks a list may show; nothing: all of them.
std::optional<std::vector<std::string>> viewer_roles_of(const Actor& actor);

}  // namespace cairn
