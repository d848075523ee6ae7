// Explains why an instance does not advance: what it waits for, since when, who or what can unblock it, and with which
// command.
#pragma once

#include "engine/core.h"

namespace cairn::api {

// Returns {id, status, reasons}. Each reason is a sentence, with `command` and `alternatives` if a person can act. A
// wait also has `kind`, `step`, `since` and `until`. Waits are listed in the order in which they were opened.
Result<Json> explain(EngineCore& core, const InstanceId& id);

}  // namespace cairn::api
