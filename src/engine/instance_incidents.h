// Incidents of instances: each that was suspended by an error or failed is a log line and a count (base/incidents.h).
#pragma once

#include "store/unit.h"

namespace cairn {

// Call it when the unit is committed. Its commit contains the events.
void report_incidents(const Unit& unit);

}  // namespace cairn
