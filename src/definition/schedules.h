// Reads `schedules`: when instances of a definition start automatically.
#pragma once

#include <vector>

#include "definition/fields.h"

namespace cairn {

extern const KeyTable schedule_table;

std::vector<ScheduleSpec> read_schedules(Fields& document);

}  // namespace cairn
