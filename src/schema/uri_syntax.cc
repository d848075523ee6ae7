#include "base/utf8.h"
#include "schema/characters.h"
#include "schema/formats.h"
#include "schema/uri.h"

namespace cairn::schema {
namespace {

bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Whether the text has only unreserved characters, sub-delims, escapes and the characters of `also`.
bool made_of(std::string_view text, std::string_view also) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_letter_or_digit(c) || is_one_of(c, "-._~!$&'()*+,;=") || is_one_of(c, also)) continue;
    if (!is_percent_escape(text, i)) return false;
    i += 2;
  }
  return true;
}

bool is_scheme(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text) {
    if (!is_letter_or_digit(c) && !is_one_of(c, "+-.")) return false;
  }
  return true;
}

bool is_ip_literal(std::string_view text) {
  if (is_ipv6(text)) return true;
  // IPvFuture: v, a hexadecimal version, a dot, an address.
  if (text.size() < 4 || (text[0] != 'v' && text[0] != 'V')) return false;
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < 2 || dot + 1 == text.size()) return false;
  for (const char c : text.substr(1, dot - 1)) {
    if (hex_digit(c) < 0) return false;
  }
  return text.find('%') == std::string_view::npos && made_of(text.substr(dot + 1), ":");
}

bool is_authority(std::string_view text) {
  if (const std::size_t at = text.find('@'); at != std::string_view::npos) {
    if (!made_of(text.substr(0, at), ":")) return false;
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || !is_ip_literal(text.substr(1, end - 1))) return false;
    port = text.substr(end + 1);
    if (!port.empty() && port[0] != ':') return false;
  } else {
    const std::size_t colon = text.find(':');
    if (!made_of(text.substr(0, colon), "")) return false;
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (!port.empty()) port.remove_prefix(1);
  for (const char c : port) {
    if (!is_digit(c)) return false;
  }
  return true;
}

bool is_variable(std::string_view text) {
  bool character_before = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      if (!character_before) return false;
      character_before = false;
      continue;
    }
    if (is_percent_escape(text, i)) {
      i += 2;
    } else if (!is_letter_or_digit(text[i]) && text[i] != '_') {
      return false;
    }
    character_before = true;
  }
  return character_before;
}

bool is_variable_with_modifier(std::string_view text) {
  if (text.ends_with('*')) return is_variable(text.substr(0, text.size() - 1));
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return is_variable(text);
  const std::string_view length = text.substr(colon + 1);
  if (length.empty() || length.size() > 4 || length[0] == '0') return false;
  for (const char c : length) {
    if (!is_digit(c)) return false;
  }
  return is_variable(text.substr(0, colon));
}

bool is_template_expression(std::string_view text) {
  if (!text.empty() && is_one_of(text[0], "+#./;?&=,!@|")) text.remove_prefix(1);
  for (;;) {
    const std::size_t comma = text.find(',');
    if (!is_variable_with_modifier(text.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

bool is_uri_reference(std::string_view text) {
  const UriParts parts = split_uri(text);
  if (parts.has_scheme && !is_scheme(parts.scheme)) return false;
  if (parts.has_authority && !is_authority(parts.authority)) return false;
  return made_of(parts.path, ":@/") && made_of(parts.query, ":@/?") && made_of(parts.fragment, ":@/?");
}

bool is_uri(std::string_view text) { return split_uri(text).has_scheme && is_uri_reference(text); }

bool is_uri_template(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '{') {
      const std::size_t end = text.find('}', i);
      if (end == std::string_view::npos || !is_template_expression(text.substr(i + 1, end - i - 1))) return false;
      i = end + 1;
    } else if (c == '%') {
      if (!is_percent_escape(text, i)) return false;
      i += 3;
    } else {
      const CodePoint point = code_point_at(text, i);
      const bool control = point.value <= 0x20 || (point.value >= 0x7f && point.value < 0xa0);
      if (control || is_one_of(c, "\"<>\\^`|}")) return false;
      i += point.size;
    }
  }
  return true;
}

}  // namespace cairn::schema
