#include <charconv>

#include "schema/characters.h"
#include "schema/formats.h"
#include "schema/idna.h"

namespace cairn::schema {
namespace {

constexpr std::string_view atom_marks = "!#$%&'*+-/=?^_`{|}~";

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > 63 || label.front() == '-' || label.back() == '-') return false;
  for (const char c : label) {
    if (!is_letter_or_digit(c) && c != '-') return false;
  }
  const bool encoded =
      label.size() >= 4 && (label[0] | 0x20) == 'x' && (label[1] | 0x20) == 'n' && label.substr(2, 2) == "--";
  return !encoded || is_encoded_label(label.substr(4));
}

bool is_dot_atom(std::string_view text) {
  bool dot_before = true;
  for (const char c : text) {
    if (c == '.') {
      if (dot_before) return false;
    } else if (!is_letter_or_digit(c) && atom_marks.find(c) == std::string_view::npos) {
      return false;
    }
    dot_before = c == '.';
  }
  return !dot_before;
}

// The text between the quotes of "joe bloggs"@example.com.
bool is_quoted_content(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] < ' ' || text[i] > '~' || text[i] == '"') return false;
    if (text[i] == '\\' && (++i == text.size() || text[i] < ' ' || text[i] > '~')) return false;
  }
  return true;
}

}  // namespace

bool is_ipv4(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    std::size_t digits = 0;
    while (digits < text.size() && digits < 4 && is_digit(text[digits])) ++digits;
    if (digits == 0 || digits > 3 || (digits > 1 && text[0] == '0')) return false;
    int value = 0;
    std::from_chars(text.data(), text.data() + digits, value);
    if (value > 255) return false;
    text.remove_prefix(digits);
    if (part == 3) break;
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
  }
  return text.empty();
}

bool is_ipv6(std::string_view text) {
  int groups = 0;
  bool gap = false;
  if (text.starts_with("::")) {
    gap = true;
    text.remove_prefix(2);
    if (text.empty()) return true;
  }
  for (;;) {
    std::size_t digits = 0;
    while (digits < text.size() && digits < 5 && hex_digit(text[digits]) >= 0) ++digits;
    if (digits < text.size() && text[digits] == '.') {
      if (!is_ipv4(text)) return false;
      groups += 2;
      break;
    }
    if (digits == 0 || digits > 4) return false;
    ++groups;
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text[0] != ':') return false;
    text.remove_prefix(1);
    if (text.starts_with(':')) {
      if (gap) return false;
      gap = true;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  return gap ? groups < 8 : groups == 8;
}

bool is_hostname(std::string_view text) {
  if (text.empty() || text.size() > 253) return false;
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_email(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return false;
  const std::string_view local = text.substr(0, at);
  const std::string_view domain = text.substr(at + 1);
  const bool quoted = local.size() >= 2 && local.front() == '"' && local.back() == '"';
  if (quoted ? !is_quoted_content(local.substr(1, local.size() - 2)) : !is_dot_atom(local)) return false;
  if (!domain.starts_with('[')) return is_hostname(domain);
  if (!domain.ends_with(']')) return false;
  const std::string_view literal = domain.substr(1, domain.size() - 2);
  return literal.starts_with("IPv6:") ? is_ipv6(literal.substr(5)) : is_ipv4(literal);
}

}  // namespace cairn::schema
