// The formats of draft 2020-12 that are validated, each with a test for one text.
#pragma once

#include <string_view>

namespace cairn::schema {

struct Format {
  std::string_view name;
  std::string_view meaning;  // completes the sentence "must be …"
  bool (*accepts)(std::string_view text);
};

// nullptr for a format that is unknown or not validated, such as `idn-email`.
const Format* find_format(std::string_view name);

// RFC 3339.
bool is_date(std::string_view text);
bool is_time(std::string_view text);
bool is_date_time(std::string_view text);
bool is_duration(std::string_view text);

bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);
// RFC 1123; a label that begins with xn-- must hold a name that RFC 5892 allows.
bool is_hostname(std::string_view text);
bool is_email(std::string_view text);

bool is_uuid(std::string_view text);
bool is_json_pointer(std::string_view text);
bool is_relative_json_pointer(std::string_view text);
bool is_regex(std::string_view text);

}  // namespace cairn::schema
