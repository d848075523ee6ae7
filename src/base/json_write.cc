#include <charconv>
#include <cstring>

#include "base/json_writer.h"

namespace cairn {
namespace {

constexpr std::size_t one_line_max = 80;

void write_pretty(const Json& value, int depth, std::string& out) {
  const bool nests = value.size() > 0;
  if (!nests) {
    write_json(value, out);
    return;
  }
  std::string flat;
  write_json(value, flat);
  const auto scalar = [](const Json& item) { return item.size() == 0; };
  bool simple = flat.size() <= one_line_max;
  if (value.is_array()) {
    for (const Json& item : value.items()) simple = simple && scalar(item);
  } else {
    for (const Json::Member& member : value.members()) simple = simple && scalar(member.value);
  }
  const std::string indent(static_cast<std::size_t>(depth + 1) * 2, ' ');
  const std::string before = simple ? "" : "\n" + indent;
  out.push_back(value.is_array() ? '[' : '{');
  bool first = true;
  const auto separate = [&] {
    if (!first) out += simple ? ", " : ",";
    first = false;
    out += before;
  };
  if (value.is_array()) {
    for (const Json& item : value.items()) {
      separate();
      write_pretty(item, depth + 1, out);
    }
  } else {
    for (const Json::Member& member : value.members()) {
      separate();
      write_json_string(member.key, out);
      out += ": ";
      write_pretty(member.value, depth + 1, out);
    }
  }
  if (!simple) out += "\n" + indent.substr(2);
  out.push_back(value.is_array() ? ']' : '}');
}

// Whether one of eight bytes may need an escape: below 0x20, a quote or a backslash. False positives are possible,
// false negatives are not.
bool may_need_escape(const char* bytes) {
  constexpr std::uint64_t each = 0x0101010101010101;
  constexpr std::uint64_t high = 0x8080808080808080;
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  const std::uint64_t quote = word ^ (each * '"');
  const std::uint64_t slash = word ^ (each * '\\');
  return (((word - each * 0x20) & ~word) | ((quote - each) & ~quote) | ((slash - each) & ~slash)) & high;
}

}  // namespace

void write_json_string(std::string_view text, std::string& out) {
  if (write_short_json(0, text, 0, out)) return;
  out.push_back('"');
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    while (i + 8 <= text.size() && !may_need_escape(text.data() + i)) i += 8;
    if (i == text.size()) break;
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text.substr(plain, i - plain));
    plain = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: {
        constexpr char hex[] = "0123456789abcdef";
        out += "\\u00";
        out.push_back(hex[c >> 4]);
        out.push_back(hex[c & 15]);
      }
    }
  }
  out.append(text.substr(plain));
  out.push_back('"');
}

void write_json_number(double value, std::string& out) {
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  const std::string_view text(digits, static_cast<std::size_t>(written.ptr - digits));
  out.append(text);
  // The text must read back as a double.
  if (text.find_first_of(".eE") == std::string_view::npos) out += ".0";
}

void write_json(const Json& value, std::string& out) {
  NoSubstitute none;
  write_json(value, out, none);
}

std::string write_json(const Json& value) {
  std::string out;
  write_json(value, out);
  return out;
}

std::string write_json_pretty(const Json& value) {
  std::string out;
  write_pretty(value, 0, out);
  return out;
}

std::string escape_pointer(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

const Json* find_pointer(const Json& root, std::string_view pointer) noexcept {
  const Json* at = &root;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::size_t end = pointer.find('/');
    const std::string_view raw = pointer.substr(0, end);
    pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
    std::string token;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '~') {
        token.push_back(raw[i]);
      } else if (i + 1 < raw.size() && (raw[i + 1] == '0' || raw[i + 1] == '1')) {
        token.push_back(raw[++i] == '0' ? '~' : '/');
      } else {
        return nullptr;
      }
    }
    if (at->is_array()) {
      std::size_t index = 0;
      const auto read = std::from_chars(token.data(), token.data() + token.size(), index);
      if (read.ec != std::errc() || read.ptr != token.data() + token.size() || index >= at->size() ||
          (token.size() > 1 && token[0] == '0')) {
        return nullptr;
      }
      at = &at->items()[index];
    } else {
      at = at->find(token);
      if (!at) return nullptr;
    }
  }
  return at;
}

}  // namespace cairn
