// Counts the cost of visiting every part of a value.
#pragma once

#include "expr/function.h"
#include "expr/value.h"

namespace cairn::expr {

// Counts one step for each part and for each 16 bytes of text. A value may share the same part many times (`[x, x]`
// costs nothing to build), so functions that write it out call this first. False after a reported fault: the budget, or
// a depth above 512.
bool spend_walk(Context& context, const Value& value);

}  // namespace cairn::expr
