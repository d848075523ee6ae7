// What messages between instances carry, as JSON and back.
#pragma once

#include "instance/advance.h"
#include "instance/event.h"
#include "store/rows.h"

namespace cairn {

Message message_of(const ParentNotice& notice);
Message cancel_message(const InstanceId& target, const std::string& reason);

// The event that a message means. ErrorCode::corrupt when its body does not add up.
Result<EventBody> event_of(const Message& message);

// All of it, as dead letters keep it and replaying reads it.
Json envelope_of(const Message& message);

}  // namespace cairn
