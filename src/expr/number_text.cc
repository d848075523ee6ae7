#include "expr/number_text.h"

#include <charconv>
#include <cstdlib>

namespace cairn::expr {

namespace {

std::optional<std::string> word_for(double value) {
  if (value != value) return "NaN";
  if (value - value != 0) return value > 0 ? "Infinity" : "-Infinity";
  return std::nullopt;
}

}  // namespace

std::string format_number(double value) {
  if (auto word = word_for(value)) return *word;
  char buffer[32];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  const std::string_view text(buffer, static_cast<std::size_t>(written.ptr - buffer));
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  std::string digits;
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  std::string out = text[0] == '-' ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent >= 21 || exponent < -6) {
    out += digits[0];
    if (count > 1) out += "." + digits.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    return out + std::to_string(std::abs(exponent));
  }
  if (exponent < 0) return out + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1) return out + digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0');
  return out + digits.substr(0, static_cast<std::size_t>(exponent) + 1) + "." +
         digits.substr(static_cast<std::size_t>(exponent) + 1);
}

std::string format_fixed(double value, int digits) {
  if (auto word = word_for(value)) return *word;
  char buffer[1500];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  return std::string(buffer, written.ptr);
}

std::string format_scientific(double value, int digits) {
  if (auto word = word_for(value)) return *word;
  char buffer[1500];
  const auto written = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific, digits);
  return std::string(buffer, written.ptr);
}

std::optional<double> parse_number(std::string_view text) {
  if (text == "NaN") return __builtin_nan("");
  if (text == "Infinity" || text == "+Infinity") return __builtin_inf();
  if (text == "-Infinity") return -__builtin_inf();
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace cairn::expr
