// Writes JSON with a substitute for some of its values. `write_json` is the same without one.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn {

// Quoted, with the characters around it (0: none), if the text is short and needs no escapes. Otherwise writes nothing.
bool write_short_json(char before, std::string_view text, char after, std::string& out);
void write_json_key(char before, std::string_view key, std::string& out);

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
