#include "definition/cpp_source.h"

#include <algorithm>
#include <limits>

#include "base/time.h"
#include "base/utf8.h"
#include "definition/decompile_defaults.h"

namespace cairn {
namespace {

constexpr std::size_t cpp_columns_max = 110;

bool needs_escapes(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F; });
}

std::string raw_text(std::string_view text) {
  std::string delimiter;
  while (text.find(")" + delimiter + "\"") != std::string_view::npos) delimiter += '_';
  // The standard allows 16 characters. Text that would need more is escaped instead.
  if (delimiter.size() > 16) return {};
  return "R\"" + delimiter + "(" + std::string(text) + ")" + delimiter + "\"";
}

std::string escaped_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      // An octal escape ends after three digits. A hexadecimal escape would absorb following digits.
      out += '\\';
      for (int shift = 6; shift >= 0; shift -= 3) out += static_cast<char>('0' + ((byte >> shift) & 7));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string cpp_integer(std::int64_t value) {
  // C++ has no literal for the smallest integer.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807 - 1)";
  return std::to_string(value);
}

std::string cpp_cel(const Json& text) { return "cel(" + cpp_text(text.as_string()) + ")"; }

bool fits(std::string_view text, std::size_t indent) {
  return text.find('\n') == std::string_view::npos && indent + count_code_points(text) <= cpp_columns_max;
}

std::string cpp_members(const Json& object, std::size_t indent) {
  std::vector<std::string> items;
  for (const Json::Member& member : object.members()) {
    items.push_back("{" + cpp_text(member.key) + ", " + cpp_value(member.value, indent + 4, false) + "}");
  }
  return cpp_braces(items, indent);
}

}  // namespace

std::string cpp_text(std::string_view text) {
  const bool wants_raw = text.find_first_of("\"\\\n") != std::string_view::npos;
  if (wants_raw && !needs_escapes(text)) {
    if (std::string raw = raw_text(text); !raw.empty()) return raw;
  }
  return escaped_text(text);
}

std::string cpp_value(const Json& value, std::size_t indent, bool outermost) {
  if (const Json* text = expression_of(value)) return cpp_cel(*text);
  switch (value.kind()) {
    case Json::Kind::null: return "nullptr";
    case Json::Kind::boolean: return value.as_bool() ? "true" : "false";
    case Json::Kind::integer: return cpp_integer(value.as_integer());
    case Json::Kind::number: return write_json(value);
    case Json::Kind::string: return cpp_text(value.as_string());
    case Json::Kind::array: {
      std::vector<std::string> items;
      for (const Json& item : value.items()) items.push_back(cpp_value(item, indent + 4, false));
      return "list(" + cpp_braces(items, indent) + ")";
    }
    case Json::Kind::object: break;
  }
  if (const Json* literal = value.find("$literal")) return cpp_document(*literal);
  if (value.size() == 0) return "object()";
  const std::string members = cpp_members(value, indent);
  return outermost ? members : "object(" + members + ")";
}

std::string cpp_condition(const Json& value) {
  const Json* text = expression_of(value);
  return text != nullptr ? cpp_text(text->as_string()) : cpp_value(value, 0, false);
}

std::string cpp_length(const Json& value) {
  if (const Json* text = expression_of(value)) return cpp_cel(*text);
  const std::string_view written = value.is_string() ? value.as_string() : std::string_view();
  const Result<Duration> parsed = parse_duration(written);
  if (!parsed) return cpp_text(written);
  const std::int64_t seconds = parsed->seconds;
  const std::int64_t nanos = parsed->nanos;
  if (nanos != 0) {
    // Milliseconds up to a day; finer or longer durations stay text.
    const bool in_ms = nanos % 1'000'000 == 0 && seconds < 86'400;
    return in_ms ? std::to_string(seconds * 1000 + nanos / 1'000'000) + "ms" : cpp_text(written);
  }
  if (seconds != 0 && seconds % 86'400 == 0) return "std::chrono::days(" + std::to_string(seconds / 86'400) + ")";
  if (seconds != 0 && seconds % 3'600 == 0) return std::to_string(seconds / 3'600) + "h";
  if (seconds != 0 && seconds % 60 == 0) return std::to_string(seconds / 60) + "min";
  return std::to_string(seconds) + "s";
}

std::string cpp_instant(const Json& value) {
  if (const Json* text = expression_of(value)) return cpp_cel(*text);
  return cpp_text(value.is_string() ? value.as_string() : std::string_view());
}

std::string cpp_document(const Json& value) {
  std::string text = write_json(value);
  if (text.size() > cpp_columns_max - 30) text = write_json_pretty(value);
  if (text.ends_with('\n')) text.pop_back();
  return "json(" + cpp_text(text) + ")";
}

void CppChain::call(std::string_view name, std::string_view arguments) {
  calls_.push_back("." + std::string(name) + "(" + std::string(arguments) + ")");
}

std::string CppChain::text() const {
  std::string line = head_;
  for (const std::string& call : calls_) line += call;
  if (fits(line, indent_) || calls_.empty()) return line;
  std::string lines = head_;
  for (const std::string& call : calls_) lines += "\n" + std::string(call_indent(), ' ') + call;
  return lines;
}

std::string cpp_braces(const std::vector<std::string>& items, std::size_t indent, bool one_per_line) {
  std::string line = "{";
  for (const std::string& item : items) line += (&item == &items.front() ? "" : ", ") + item;
  line += "}";
  if (items.empty() || (!one_per_line && fits(line, indent))) return line;
  std::string lines = "{\n";
  for (const std::string& item : items) lines += std::string(indent + 4, ' ') + item + ",\n";
  return lines + std::string(indent, ' ') + "}";
}

}  // namespace cairn
