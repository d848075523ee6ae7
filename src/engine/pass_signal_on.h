// What happens to a broadcast signal that its instance does not use (rule S11).
#pragma once

#include "engine/delivery.h"

namespace cairn {

// If the instance has ended, or kept the signal without using it, another instance that waits for the name and key, now
// or later, gets the signal. An instance that kept it still has it for its own later waits and does not get it twice.
// If several instances got the signal, each has its own copy, and nothing is passed on. The result is in the decision's
// unit.
void pass_signal_on(Decision& decision, const Message& message);

}  // namespace cairn
