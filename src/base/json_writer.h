// Writes JSON with a substitute for some of its values. `write_json` is the same without one.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn {

// Quoted, with the characters around it (0: none), if the text is short and needs no escapes. Otherwise writes nothing.
// Here and not in json_write.cc, because nearly all text is of this kind, and appending byte by byte takes most of the
// time.
inline bool write_short_json(char before, std::string_view text, char after, std::string& out) {
  constexpr std::size_t short_text_max = 120;
  if (text.size() > short_text_max) return false;
  char quoted[short_text_max + 4];
  char* at = quoted;
  if (before != 0) *at++ = before;
  *at++ = '"';
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') return false;
    *at++ = c;
  }
  *at++ = '"';
  if (after != 0) *at++ = after;
  out.append(quoted, at);
  return true;
}
inline void write_json_key(char before, std::string_view key, std::string& out) {
  if (write_short_json(before, key, ':', out)) return;
  out.push_back(before);
  write_json_string(key, out);
  out.push_back(':');
}

// Decides for each value that can have a note (JsonNote) whether it is written differently. True: it has been written.
struct NoSubstitute {
  static constexpr bool asks = false;
  static bool take(const Json&, std::string&) { return false; }
};

// Appends compact JSON. Equal values and equal substitutes give equal bytes. The recursion is as deep as the value.
template <class Substitute>
void write_json(const Json& value, std::string& out, Substitute& substitute) {
  switch (value.kind()) {
    case Json::Kind::null: out += "null"; return;
    case Json::Kind::boolean: out += value.as_bool() ? "true" : "false"; return;
    case Json::Kind::integer: {
      char digits[24];
      const auto written = std::to_chars(digits, digits + sizeof digits, value.as_integer());
      out.append(digits, written.ptr);
      return;
    }
    case Json::Kind::number: write_json_number(value.as_double(), out); return;
    case Json::Kind::string: {
      const std::string_view text = value.as_string();
      if constexpr (Substitute::asks) {
        if (text.size() >= Text::noted_min && substitute.take(value, out)) return;
      }
      write_json_string(text, out);
      return;
    }
    case Json::Kind::array: {
      if constexpr (Substitute::asks) {
        if (substitute.take(value, out)) return;
      }
      char before = '[';
      for (const Json& item : value.items()) {
        out.push_back(before);
        before = ',';
        write_json(item, out, substitute);
      }
      if (before == '[') out.push_back('[');
      out.push_back(']');
      return;
    }
    case Json::Kind::object: {
      if constexpr (Substitute::asks) {
        if (substitute.take(value, out)) return;
      }
      char before = '{';
      for (const Json::Member& member : value.members()) {
        write_json_key(before, member.key, out);
        before = ',';
        write_json(member.value, out, substitute);
      }
      if (before == '{') out.push_back('{');
      out.push_back('}');
      return;
    }
  }
}

}  // namespace cairn
