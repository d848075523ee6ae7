// Why an instance does not move: what it waits for, since when, who or what can unblock it, and the command for that.
#pragma once

#include "engine/coordinator.h"

namespace cairn::server {

// {id, status, reasons}; each reason a sentence with `command` and `alternatives` where a person can do something
// about it, and of a wait its `kind`, `step`, `since` and `until`. Waits come in the order in which they were opened.
Result<Json> explain(Coordinator& coordinator, const InstanceId& id);

}  // namespace cairn::server
