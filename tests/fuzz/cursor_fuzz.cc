// Any text as the cursor of a list: accepted exactly if it is a number that a list could have given.
#include <cerrno>
#include <cstdlib>

#include "input.h"
#include "store/sql_rows.h"

void fuzz(std::string_view input) {
  const std::string text(input);
  const auto first = cairn::sql::read_cursor(text, 77);
  if (text.empty()) CAIRN_ASSERT(first.has_value() && *first == 77);
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), nullptr, 10);
  const bool number = text.size() > sign && text.find_first_not_of("0123456789", sign) == std::string::npos;
  if (!text.empty()) CAIRN_ASSERT(first.has_value() == (number && errno == 0) && (!first || *first == value));
}
