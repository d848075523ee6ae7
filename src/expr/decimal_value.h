// Decimals as values of the language.
#pragma once

#include "expr/decimal.h"
#include "expr/function.h"
#include "expr/value.h"

namespace cairn::expr {

const Decimal& as_decimal(const Value& value);  // of Kind::decimal
// A decimal, or an integer converted to one; empty for every other kind.
std::optional<Decimal> to_decimal(const Value& value);

// These count the bytes against the budget. Too many digits is the fault `overflow`.
Value decimal_value(Context& context, Decimal value);
Value decimal_value(Context& context, Result<Decimal> value);
// Without a budget, for values from outside.
Value decimal_value(Decimal value);

}  // namespace cairn::expr
