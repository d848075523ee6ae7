// Tests whether a row matches a filter. Stores whose database cannot evaluate a field of a filter use these tests row
// by row.
#pragma once

#include "store/rows.h"

namespace cairn {

bool matches(const InstanceRow& row, const InstanceFilter& filter);
bool matches(const TaskRow& row, const TaskFilter& filter);

// The rule that decides who may read, comment on and complete a task, and who may take it from its assignee. A user has
// a right to a task by one of its roles, as a manager, or because the task has no roles. To be the assignee gives none.
bool has_right(const TaskRow& task, const std::vector<std::string>& roles);
bool is_manager(const TaskRow& task, const std::vector<std::string>& roles);

// Whether the filter has fields without an index: version, parts and text of instances; reference, text and due time of
// tasks.
bool needs_reading(const InstanceFilter& filter);
bool needs_reading(const TaskFilter& filter);

}  // namespace cairn
