#include "schema/formats.h"

#include <algorithm>
#include <array>

#include "schema/characters.h"
#include "schema/pattern.h"
#include "schema/uri.h"

namespace cairn::schema {
namespace {

constexpr std::array<Format, 15> formats = {{
    {"date", "a date such as 2024-02-29", is_date},
    {"date-time", "a date and time with offset, such as 2024-02-29T08:00:00Z", is_date_time},
    {"duration", "an ISO 8601 duration such as P3D or PT1H30M", is_duration},
    {"email", "an e-mail address", is_email},
    {"hostname", "a host name", is_hostname},
    {"ipv4", "an IPv4 address", is_ipv4},
    {"ipv6", "an IPv6 address", is_ipv6},
    {"json-pointer", "a JSON pointer such as /items/0", is_json_pointer},
    {"regex", "a regular expression", is_regex},
    {"relative-json-pointer", "a relative JSON pointer such as 1/name", is_relative_json_pointer},
    {"time", "a time with offset, such as 08:00:00Z", is_time},
    {"uri", "a URI such as https://example.com/path", is_uri},
    {"uri-reference", "a URI or a relative reference", is_uri_reference},
    {"uri-template", "a URI template such as /orders/{id}", is_uri_template},
    {"uuid", "a UUID such as 0190163d-8694-739b-aea5-966c26f8ad91", is_uuid},
}};

}  // namespace

const Format* find_format(std::string_view name) {
  const auto it =
      std::find_if(formats.begin(), formats.end(), [&](const Format& format) { return format.name == name; });
  return it == formats.end() ? nullptr : &*it;
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : hex_digit(text[i]) < 0) return false;
  }
  return true;
}

bool is_json_pointer(std::string_view text) {
  if (!text.empty() && text[0] != '/') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '~') continue;
    if (i + 1 == text.size() || (text[i + 1] != '0' && text[i + 1] != '1')) return false;
  }
  return true;
}

bool is_relative_json_pointer(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  if (digits == 0 || (digits > 1 && text[0] == '0')) return false;
  const std::string_view rest = text.substr(digits);
  return rest == "#" || is_json_pointer(rest);
}

bool is_regex(std::string_view text) {
  const auto translated = translate_pattern(text);
  return translated && is_pattern_syntax(translated->re2);
}

}  // namespace cairn::schema
