// Any text as a JSON number: accepted if it follows the grammar of RFC 8259 and fits a double, with the value that the
// C library reads.
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "base/json.h"
#include "input.h"

namespace {

std::size_t digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && text[count] >= '0' && text[count] <= '9') ++count;
  text.remove_prefix(count);
  return count;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

bool is_number(std::string_view text, bool& whole) {
  take(text, "-");
  const bool zero = text.starts_with('0');
  const std::size_t count = digits(text);
  if (count == 0 || (zero && count > 1)) return false;
  whole = text.empty();
  if (take(text, ".") && digits(text) == 0) return false;
  if (take(text, "eE")) {
    take(text, "+-");
    if (digits(text) == 0) return false;
  }
  return text.empty();
}

}  // namespace

void fuzz(std::string_view text) {
  if (text.empty() || text.find_first_not_of("+-.0123456789eE") != std::string_view::npos) return;
  bool whole = false;
  const bool number = is_number(text, whole);
  const double value = std::strtod(std::string(text).c_str(), nullptr);
  const auto json = cairn::parse_json(text);
  CAIRN_ASSERT(json.has_value() == (number && std::isfinite(value)));
  if (!json) return;
  CAIRN_ASSERT(json->as_double() == value);
  errno = 0;
  const long long integer = std::strtoll(std::string(text).c_str(), nullptr, 10);
  const bool fits = errno == 0;
  if (whole && fits && text != "-0") CAIRN_ASSERT(json->is_integer() && json->as_integer() == integer);
  if (!whole || !fits) CAIRN_ASSERT(!json->is_integer());
}
