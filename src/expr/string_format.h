// `"%s has %.2f".format([…])`.
#pragma once

#include <string>

#include "expr/function.h"

namespace cairn::expr {

// Appends the text of any value: lists as [a, b], maps as {k: v} in the order of the keys' texts.
bool append_text(Context& context, const Value& value, std::string& out);

Value format_text(Context& context, std::string_view pattern, const Value& items);

}  // namespace cairn::expr
