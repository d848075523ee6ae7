// What it costs to look at every part of a value.
#pragma once

#include "expr/function.h"
#include "expr/value.h"

namespace cairn::expr {

// Counts a step for each part and each 16 bytes of text. A value may hold the same part many times
// (`[x, x]` costs nothing to build), so whoever writes it out asks here first. False: a fault was
// reported, the budget or a depth above 512.
bool spend_walk(Context& context, const Value& value);

}  // namespace cairn::expr
