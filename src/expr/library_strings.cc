// The strings extension: positions count characters (code points), not bytes.
#include <algorithm>

#include "base/utf8.h"
#include "expr/function.h"
#include "expr/string_format.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;
constexpr std::size_t nowhere = std::string_view::npos;

bool spend(Context& context, std::string_view text) { return context.spend_steps(text.size() / 8); }

// The byte offset of character `index`. The end of the text is a valid position; nothing beyond it is.
std::size_t byte_at(std::string_view text, std::int64_t index) {
  if (index < 0) return nowhere;
  std::size_t byte = 0;
  while (index > 0 && byte < text.size()) {
    byte += code_point_at(text, byte).size;
    --index;
  }
  return index == 0 ? byte : nowhere;
}

Value out_of_range(Context& context, std::int64_t index) {
  return context.fail("index_out_of_range", "the text has no position " + std::to_string(index));
}

Value position(std::string_view text, std::size_t byte) {
  if (byte == nowhere) return Value::integer(-1);
  return Value::integer(static_cast<std::int64_t>(count_code_points(text.substr(0, byte))));
}

Value char_at(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!spend(context, text)) return context.error();
  const std::size_t byte = byte_at(text, args[1].as_integer());
  if (byte == nowhere) return out_of_range(context, args[1].as_integer());
  return context.text(byte == text.size() ? "" : text.substr(byte, code_point_at(text, byte).size));
}

std::size_t find_text(std::string_view text, std::string_view part, std::size_t from) {
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found ? static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) : nowhere;
}

Value index_of(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  const std::string_view part = args[1].as_text();
  if (!spend(context, text)) return context.error();
  std::size_t from = 0;
  if (args.size() > 2) {
    from = byte_at(text, args[2].as_integer());
    if (from == nowhere) return out_of_range(context, args[2].as_integer());
  }
  return position(text, part.empty() ? from : find_text(text, part, from));
}

Value last_index_of(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  const std::string_view part = args[1].as_text();
  // A backward search may compare `part` at every position.
  if (!context.spend_steps(text.size() / 8 + std::min<std::uint64_t>(text.size() * (part.size() + 1) / 16, 1u << 20))) {
    return context.error();
  }
  std::size_t from = nowhere;
  if (args.size() > 2) {
    from = byte_at(text, args[2].as_integer());
    if (from == nowhere || from == text.size()) return out_of_range(context, args[2].as_integer());
  }
  return position(text, text.rfind(part, from));
}

Value substring(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!spend(context, text)) return context.error();
  const std::size_t begin = byte_at(text, args[1].as_integer());
  if (begin == nowhere) return out_of_range(context, args[1].as_integer());
  if (args.size() == 2) return context.text(text.substr(begin));
  const std::size_t end = byte_at(text, args[2].as_integer());
  if (end == nowhere) return out_of_range(context, args[2].as_integer());
  if (end < begin) {
    return context.fail("index_out_of_range", "the part from " + std::to_string(args[1].as_integer()) + " to " +
                                                  std::to_string(args[2].as_integer()) + " ends before it begins");
  }
  return context.text(text.substr(begin, end - begin));
}

template <class Change>
Value changed(Context& context, Args args, Change change) {
  if (!spend(context, args[0].as_text())) return context.error();
  std::string out(args[0].as_text());
  for (char& c : out) c = change(c);
  return context.text(out);
}
Value lower_ascii(Context& context, Args args) {
  return changed(context, args, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}
Value upper_ascii(Context& context, Args args) {
  return changed(context, args, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
}

Value replace(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  const std::string_view part = args[1].as_text();
  const std::string_view by = args[2].as_text();
  std::int64_t left = args.size() > 3 ? args[3].as_integer() : -1;
  if (!spend(context, text)) return context.error();
  std::string out;
  std::size_t at = 0;
  const auto put = [&](std::string_view piece) {
    // The budget is charged before growing, so that a short text cannot become huge first.
    if (!context.spend_bytes(piece.size())) return false;
    out += piece;
    return true;
  };
  if (part.empty()) {
    for (;;) {
      if (left != 0) {
        if (!put(by)) return context.error();
        if (left > 0) --left;
      }
      if (at == text.size()) break;
      const std::size_t size = code_point_at(text, at).size;
      if (!put(text.substr(at, size))) return context.error();
      at += size;
    }
    return context.text(out);
  }
  while (left != 0) {
    const std::size_t found = find_text(text, part, at);
    if (found == nowhere) break;
    if (!put(text.substr(at, found - at)) || !put(by)) return context.error();
    at = found + part.size();
    if (left > 0) --left;
  }
  if (!put(text.substr(at))) return context.error();
  return context.text(out);
}

Value split(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  const std::string_view separator = args[1].as_text();
  const std::int64_t limit = args.size() > 2 ? args[2].as_integer() : -1;
  if (!spend(context, text)) return context.error();
  Value::List parts;
  if (limit == 0) return context.list(std::move(parts));
  const auto put = [&](std::string_view part) {
    Value value = context.text(part);
    if (context.failed()) return false;
    parts.push_back(std::move(value));
    return true;
  };
  const auto full = [&] { return limit > 0 && static_cast<std::int64_t>(parts.size()) == limit - 1; };
  std::size_t at = 0;
  if (separator.empty()) {
    while (at < text.size() && !full()) {
      const std::size_t size = code_point_at(text, at).size;
      if (!put(text.substr(at, size))) return context.error();
      at += size;
    }
    if (at < text.size() && !put(text.substr(at))) return context.error();
    return context.list(std::move(parts));
  }
  while (!full()) {
    const std::size_t found = find_text(text, separator, at);
    if (found == nowhere) break;
    if (!put(text.substr(at, found - at))) return context.error();
    at = found + separator.size();
  }
  if (!put(text.substr(at))) return context.error();
  return context.list(std::move(parts));
}

Value join(Context& context, Args args) {
  const std::string_view separator = args.size() > 1 ? args[1].as_text() : std::string_view();
  std::string out;
  for (std::size_t i = 0; i < args[0].size(); ++i) {
    const Value item = args[0].item(i);
    if (!item.is(Value::Kind::string)) {
      return context.fail("no_such_overload", "join needs a list of text, found " + std::string(describe(item.kind())));
    }
    const std::size_t bytes = item.as_text().size() + separator.size();
    if (!context.spend_steps(1 + bytes / 16) || !context.spend_bytes(bytes)) return context.error();
    if (i > 0) out += separator;
    out += item.as_text();
  }
  return context.text(out);
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

Value trim(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!spend(context, text)) return context.error();
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (!is_space(point.value)) {
      begin = std::min(begin, at);
      end = at + point.size;
    }
    at += point.size;
  }
  return context.text(begin < end ? text.substr(begin, end - begin) : std::string_view());
}

Value reverse_text(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!spend(context, text)) return context.error();
  std::string out(text.size(), '\0');
  std::size_t end = text.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = code_point_at(text, at).size;
    end -= size;
    text.copy(out.data() + end, size, at);
    at += size;
  }
  return context.text(out);
}

Value quote(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!spend(context, text)) return context.error();
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      case '\\': out += "\\\\"; break;
      case '"': out += "\\\""; break;
      default: out += c;
    }
  }
  return context.text(out + "\"");
}

Value format(Context& context, Args args) { return format_text(context, args[0].as_text(), args[1]); }

const Overload strings_overloads[] = {
    {"string.charAt(int) -> string", char_at, "The character at a position; empty at the end.", "\"abc\".charAt(1)",
     "\"b\""},
    {"string.indexOf(string) -> int", index_of, "Where another text first begins, or -1.", "\"abcb\".indexOf(\"b\")",
     "1"},
    {"string.indexOf(string, int) -> int", index_of, "The same, from a position on.", "\"abcb\".indexOf(\"b\", 2)",
     "3"},
    {"string.lastIndexOf(string) -> int", last_index_of, "Where another text last begins, or -1.",
     "\"abcb\".lastIndexOf(\"b\")", "3"},
    {"string.lastIndexOf(string, int) -> int", last_index_of, "The same, at or before a position.",
     "\"abcb\".lastIndexOf(\"b\", 2)", "1"},
    {"string.lowerAscii() -> string", lower_ascii, "A to Z as a to z; other letters stay.", "\"AbÄ\".lowerAscii()",
     "\"abÄ\""},
    {"string.upperAscii() -> string", upper_ascii, "a to z as A to Z; other letters stay.", "\"abä\".upperAscii()",
     "\"ABä\""},
    {"string.replace(string, string) -> string", replace, "Every occurrence of one text replaced by another.",
     "\"a-b-c\".replace(\"-\", \"+\")", "\"a+b+c\""},
    {"string.replace(string, string, int) -> string", replace, "The first ones replaced; a negative number means all.",
     "\"a-b-c\".replace(\"-\", \"+\", 1)", "\"a+b-c\""},
    {"string.split(string) -> list(string)", split, "The parts between a separator.", "\"a,b\".split(\",\")",
     "[\"a\", \"b\"]"},
    {"string.split(string, int) -> list(string)", split, "At most that many parts; a negative number means all.",
     "\"a,b,c\".split(\",\", 2)", "[\"a\", \"b,c\"]"},
    {"string.substring(int) -> string", substring, "The text from a position on.", "\"abc\".substring(1)", "\"bc\""},
    {"string.substring(int, int) -> string", substring, "The text from a position up to before another.",
     "\"abc\".substring(0, 2)", "\"ab\""},
    {"string.trim() -> string", trim, "Without white space at both ends.", "\"  a \".trim()", "\"a\""},
    {"string.reverse() -> string", reverse_text, "The characters in the opposite order.", "\"abc\".reverse()",
     "\"cba\""},
    {"string.format(list(dyn)) -> string", format, "Fills in %s %d %f %.2f %e %b %x %X %o.",
     "\"%s: %.2f\".format([\"a\", 1.5])", "\"a: 1.50\""},
    {"list(string).join() -> string", join, "All texts one after the other.", "[\"a\", \"b\"].join()", "\"ab\""},
    {"list(string).join(string) -> string", join, "All texts with a separator between them.",
     "[\"a\", \"b\"].join(\", \")", "\"a, b\""},
    {"strings.quote(string) -> string", quote, "The text in double quotes with escapes.", "strings.quote(\"a\\\"b\")",
     "\"\\\"a\\\\\\\"b\\\"\""},
};

}  // namespace

Library library_strings() { return {"strings", strings_overloads}; }

}  // namespace cairn::expr
