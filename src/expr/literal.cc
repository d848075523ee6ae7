#include "expr/literal.h"

#include <charconv>
#include <cstdint>
#include <limits>

#include "base/utf8.h"

namespace cairn::expr {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Escapes {
 public:
  Escapes(std::string_view text, std::size_t base, bool bytes) : text_(text), base_(base), bytes_(bytes) {}

  Result<std::string, LiteralFault> decode() {
    std::string out;
    out.reserve(text_.size());
    while (at_ < text_.size()) {
      if (text_[at_] != '\\') {
        out.push_back(text_[at_++]);
        continue;
      }
      CAIRN_TRY_VOID(escape(out));
    }
    return out;
  }

 private:
  LiteralFault fault(std::size_t at, std::string message) const { return {base_ + at, std::move(message)}; }

  Result<void, LiteralFault> escape(std::string& out) {
    const std::size_t begin = at_++;
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    switch (c) {
      case 'a': out.push_back('\a'); return {};
      case 'b': out.push_back('\b'); return {};
      case 'f': out.push_back('\f'); return {};
      case 'n': out.push_back('\n'); return {};
      case 'r': out.push_back('\r'); return {};
      case 't': out.push_back('\t'); return {};
      case 'v': out.push_back('\v'); return {};
      case '\\':
      case '?':
      case '"':
      case '\'':
      case '`': out.push_back(c); return {};
      case 'x':
      case 'X': return code(begin, 2, 16, out);
      case 'u':
      case 'U':
        if (bytes_) return fault(begin, "\\u has no meaning in bytes; use \\x");
        return code(begin, c == 'u' ? 4 : 8, 16, out);
      case '0':
      case '1':
      case '2':
      case '3': --at_; return code(begin, 3, 8, out);
      default: return fault(begin, "unknown escape in the text; a backslash itself is written \\\\");
    }
  }

  Result<void, LiteralFault> code(std::size_t begin, int digits, int base, std::string& out) {
    char32_t value = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
      if (digit < 0 || digit >= base) {
        return fault(
            begin, "the escape needs " + std::to_string(digits) + (base == 8 ? " octal" : " hexadecimal") + " digits");
      }
      value = value * static_cast<char32_t>(base) + static_cast<char32_t>(digit);
      ++at_;
    }
    if (bytes_) {
      out.push_back(static_cast<char>(value));
      return {};
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      return fault(begin, "the escape is not a Unicode character");
    append_utf8(value, out);
    return {};
  }

  std::string_view text_;
  std::size_t base_;
  bool bytes_;
  std::size_t at_ = 0;
};

template <class Integer>
bool read_digits(std::string_view digits, Integer& value) {
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
    digits.remove_prefix(2);
    base = 16;
  }
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return read.ec == std::errc() && read.ptr == digits.data() + digits.size();
}

}  // namespace

Result<std::string, LiteralFault> decode_quoted(std::string_view literal, bool bytes) {
  std::size_t begin = 0;
  bool raw = false;
  while (literal[begin] != '"' && literal[begin] != '\'') {
    raw = raw || literal[begin] == 'r' || literal[begin] == 'R';
    ++begin;
  }
  const std::size_t quotes =
      literal.size() >= begin + 6 && literal[begin + 1] == literal[begin] && literal[begin + 2] == literal[begin] ? 3
                                                                                                                  : 1;
  const std::string_view inside = literal.substr(begin + quotes, literal.size() - begin - 2 * quotes);
  if (raw) return std::string(inside);
  return Escapes(inside, begin + quotes, bytes).decode();
}

Result<std::int64_t, LiteralFault> decode_integer(std::string_view literal, bool negative) {
  std::uint64_t digits = 0;
  const std::uint64_t limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  if (!read_digits(literal, digits) || digits > limit) return LiteralFault{0, "the number does not fit 64 bits"};
  return static_cast<std::int64_t>(negative ? 0 - digits : digits);
}

Result<std::uint64_t, LiteralFault> decode_unsigned(std::string_view literal) {
  std::uint64_t value = 0;
  if (!read_digits(literal.substr(0, literal.size() - 1), value))
    return LiteralFault{0, "the number does not fit 64 bits"};
  return value;
}

Result<double, LiteralFault> decode_number(std::string_view literal) {
  double value = 0;
  const auto read = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  // A number too small for a double is zero. One too large is an error, because digits never mean infinity.
  if (read.ec == std::errc::result_out_of_range) {
    const bool tiny = literal.find("e-") != std::string_view::npos || literal.find("E-") != std::string_view::npos;
    if (tiny) return 0.0;
    return LiteralFault{0, "the number is too large for a double"};
  }
  return value;
}

}  // namespace cairn::expr
