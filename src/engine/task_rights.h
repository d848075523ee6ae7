// Who may do what with a human task. A person has a right to a task by one of its roles, or because the task has no
// roles. To be the assignee gives no right: an assignee who lacks or lost the roles cannot read or complete the task.
// Managers (tasks.manage, or a role among the task's `managers`) have a right to every task, and only they may take one
// from its assignee. Exclusion overrides all of these.
//
// Each function returns the reason for a refusal (ErrorCode::not_allowed), or nothing if the request is allowed.
#pragma once

#include <optional>

#include "base/result.h"
#include "cairn/requests.h"
#include "store/store.h"

namespace cairn {

// To read a task or to comment on it.
std::optional<Error> refuse_reading(const TaskRow& task, const Actor& actor);
// To complete a task. The interpreter checks the exclusion again when it decides.
std::optional<Error> refuse_completion(const TaskRow& task, const Actor& actor);
// `assignee_roles`: the roles of the new assignee; absent: unknown and not checked.
std::optional<Error> refuse_change(const TaskRow& task, const TaskChange& change, const Actor& actor,
                                   const std::optional<std::vector<std::string>>& assignee_roles);

// The roles whose tasks a list may show; nothing: all of them.
std::optional<std::vector<std::string>> viewer_roles_of(const Actor& actor);

}  // namespace cairn
