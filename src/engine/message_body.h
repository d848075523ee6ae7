// The bodies of messages between instances, to JSON and back.
#pragma once

#include "instance/advance.h"
#include "instance/event.h"
#include "store/rows.h"

namespace cairn {

Message message_of(const ParentNotice& notice);
Message cancel_message(const InstanceId& target, const std::string& reason);

// The event that a message stands for. ErrorCode::corrupt if its body is invalid.
Result<EventBody> event_of(const Message& message);

// The complete message, as dead letters store it and a replay reads it.
Json envelope_of(const Message& message);

// The dead letter of a signal that the instance kept until its time to live was over. A replay sends the signal to the
// instance again. It needs another id, because the instance has had this one.
DeadLetter letter_of_expiry(const InstanceId& instance, const BufferedSignal& signal, const std::string& node);

}  // namespace cairn
