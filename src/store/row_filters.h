// Whether a row is what a filter asks for. Stores that cannot ask their database for a field of a filter
// ask here, row by row.
#pragma once

#include "store/rows.h"

namespace cairn {

bool matches(const InstanceRow& row, const InstanceFilter& filter);
bool matches(const TaskRow& row, const TaskFilter& filter);

// The rule about who may read, comment on and complete a task, and who may take it from its assignee.
bool has_right(const TaskRow& task, const TaskFilter::Viewer& viewer);
bool is_manager(const TaskRow& task, const std::vector<std::string>& roles);

// Whether the filter has fields that no index knows: version, parts and text of instances; reference,
// text and due time of tasks.
bool needs_reading(const InstanceFilter& filter);
bool needs_reading(const TaskFilter& filter);

}  // namespace cairn
