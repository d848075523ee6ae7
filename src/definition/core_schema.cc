#include "definition/core_schema.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/ascii.h"

namespace cairn {
namespace {

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

std::string_view without_sign(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return text;
}

enum class NumberShape { text, integer, fraction };

// [0-9]+ or ( [.][0-9]+ | [0-9]+([.][0-9]*)? )([eE][-+]?[0-9]+)?
NumberShape shape_of(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t first = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at - first;
  };
  NumberShape shape = NumberShape::integer;
  const std::size_t whole = digits();
  if (at < text.size() && text[at] == '.') {
    shape = NumberShape::fraction;
    ++at;
    if (digits() == 0 && whole == 0) return NumberShape::text;
  } else if (whole == 0) {
    return NumberShape::text;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    shape = NumberShape::fraction;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return NumberShape::text;
  }
  return at == text.size() ? shape : NumberShape::text;
}

// 0x… and 0o…; if larger than an int64, they become doubles like decimal numbers.
std::optional<Json> based_number(std::string_view text) {
  if (text.size() < 3 || text[0] != '0' || (text[1] != 'x' && text[1] != 'o')) return std::nullopt;
  const int base = text[1] == 'x' ? 16 : 8;
  const std::string_view digits = text.substr(2);
  double wide = 0;
  for (const char c : digits) {
    const int digit = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : base;
    if (digit >= base) return std::nullopt;
    wide = wide * base + digit;
  }
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value, base).ec == std::errc()) {
    return Json(static_cast<long long>(value));
  }
  return Json(wide);
}

bool is_not_finite(std::string_view text) {
  return one_of(without_sign(text), {".inf", ".Inf", ".INF"}) || one_of(text, {".nan", ".NaN", ".NAN"});
}

}  // namespace

Result<Json> resolve_plain(std::string_view text) {
  if (one_of(text, {"", "~", "null", "Null", "NULL"})) return Json();
  if (one_of(text, {"true", "True", "TRUE"})) return Json(true);
  if (one_of(text, {"false", "False", "FALSE"})) return Json(false);
  if (is_not_finite(text)) {
    return Error{ErrorCode::invalid, "`" + std::string(text) + "` is not a JSON number; put it in quotes to mean text"};
  }
  if (const auto number = based_number(text)) {
    if (!std::isfinite(number->as_double())) return Error{ErrorCode::invalid, "the number is too large for a double"};
    return *number;
  }
  const NumberShape shape = shape_of(without_sign(text));
  if (shape == NumberShape::text) return Json(text);
  if (text.front() == '+') text.remove_prefix(1);
  if (shape == NumberShape::integer) {
    std::int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
      return Json(static_cast<long long>(value));
    }
  }
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(value)) return Error{ErrorCode::invalid, "the number is too large for a double"};
  return Json(value);
}

bool is_plain_value(std::string_view text) {
  const auto value = resolve_plain(text);
  return !value || !value->is_string();
}

}  // namespace cairn
