// The answer to a change that was refused. If the resource has another state version than the caller has seen (412),
// the answer has the current ETag.
#pragma once

#include "api/api.h"

namespace cairn::api {

void reply_to_refused(EngineCore& core, const InstanceId& id, const Reply& reply, const Error& error);
void reply_to_refused(EngineCore& core, const TaskId& id, const Reply& reply, const Error& error);

}  // namespace cairn::api
