// Decodes literals.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cairn::expr {

// The error and its offset in the literal.
struct LiteralFault {
  std::size_t offset = 0;
  std::string message;
};

// The text or bytes of a literal as written, with prefix and quotes.
Result<std::string, LiteralFault> decode_quoted(std::string_view literal, bool bytes);

// Decodes digits with an optional 0x; `negative` if a minus precedes them.
Result<std::int64_t, LiteralFault> decode_integer(std::string_view literal, bool negative);
Result<std::uint64_t, LiteralFault> decode_unsigned(std::string_view literal);  // ends in u
Result<double, LiteralFault> decode_number(std::string_view literal);

}  // namespace cairn::expr
