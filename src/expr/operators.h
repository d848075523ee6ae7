// The operators on values.
#pragma once

#include <string_view>

#include "expr/function.h"
#include "expr/syntax.h"
#include "expr/value.h"

namespace cairn::expr {

std::string_view operator_text(Operator op);      // +
std::string_view operator_function(Operator op);  // _+_: libraries add overloads for their own kinds here

// The general cases; the evaluator handles the most frequent ones itself.
Value arithmetic(Context& context, Operator op, Value& a, Value& b);
Value negate(Context& context, Value& value);
// The error for comparing a decimal with a double; `what` names the operation.
Value no_equality(Context& context, std::string_view what);
Value compare_values(Context& context, Operator op, const Value& a, const Value& b);
Value contains(Context& context, const Value& item, const Value& container);
Value index_into(Context& context, const Value& container, const Value& index, bool optional);
Value select_from(Context& context, const Value& container, std::string_view key, bool optional);
Value has_member(Context& context, const Value& container, std::string_view key);

// Calls the overload that matches the arguments.
Value call_function(Context& context, const Function& function, std::span<Value> args, bool member);

// The maximum length of a duration in expressions: 10 000 years of 365 days. CEL refuses the time between its first and
// last timestamp, which a Duration can hold.
inline constexpr std::int64_t duration_seconds_max = 315'360'000'000;
bool in_range(Duration value);

}  // namespace cairn::expr
