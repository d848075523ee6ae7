#include "base/json.h"
#include "base/utf8.h"
#include "expr/expression.h"
#include "expr/function.h"
#include "expr/value_walk.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

constexpr std::int64_t width_max = 1'000'000;

// Appends the value as JSON has it, but text without quotes.
bool append_text(Context& context, const Value& value, std::string_view name, std::string& out) {
  if (value.is(Kind::string)) {
    out += value.as_text();
    return context.spend_steps(value.as_text().size() / 16);
  }
  if (value.is(Kind::null)) {
    context.fail("invalid_argument", "{" + std::string(name) + "} is null; give a default with coalesce(…)");
    return false;
  }
  if (!spend_walk(context, value)) return false;
  const auto json = to_json(value);
  if (!json.has_value()) {
    context.fail("not_json", "{" + std::string(name) + "}: " + json.error().message);
    return false;
  }
  if (json->is_string()) {
    out += json->as_string();
  } else {
    write_json(*json, out);
  }
  return true;
}

// `a.b` is the member b of the member a.
std::optional<Value> find_path(const Value& values, std::string_view path) {
  Value current = values;
  while (true) {
    const std::size_t dot = path.find('.');
    if (!current.is(Kind::map)) return std::nullopt;
    auto next = current.find(path.substr(0, dot));
    if (!next) return std::nullopt;
    current = *std::move(next);
    if (dot == std::string_view::npos) return current;
    path.remove_prefix(dot + 1);
  }
}

Value fill_template(Context& context, std::span<Value> args) {
  const std::string_view text = args[0].as_text();
  if (!context.spend_steps(1 + text.size() / 4)) return context.error();
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c != '{' && c != '}') {
      out.push_back(c);
      ++i;
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == c) {
      out.push_back(c);
      i += 2;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (c == '}' || end == std::string_view::npos) {
      return context.fail("invalid_argument", std::string("the template has a single ") + c + " at byte " +
                                                  std::to_string(i + 1) + "; write " + c + c +
                                                  " for the character itself");
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    const auto value = find_path(args[1], name);
    if (!value) {
      return context.fail("no_such_key",
                          "the template asks for {" + std::string(name.substr(0, 60)) + "}, which is not given");
    }
    if (!append_text(context, *value, name, out)) return context.error();
    i = end + 1;
  }
  return context.text(out);
}

template <bool at_start>
Value pad(Context& context, std::span<Value> args) {
  const std::string_view text = args[0].as_text();
  const std::int64_t width = args[1].as_integer();
  const std::string_view fill = args.size() > 2 ? args[2].as_text() : " ";
  if (width > width_max) return context.fail("invalid_argument", "the width is at most 1000000");
  if (count_code_points(fill) != 1) return context.fail("invalid_argument", "the fill is one character");
  const auto size = static_cast<std::int64_t>(count_code_points(text));
  if (size >= width) return args[0];
  const auto missing = static_cast<std::size_t>(width - size);
  if (!context.spend_steps(1 + (text.size() + missing * fill.size()) / 16)) return context.error();
  std::string out;
  out.reserve(text.size() + missing * fill.size());
  if (!at_start) out += text;
  for (std::size_t i = 0; i < missing; ++i) out += fill;
  if (at_start) out += text;
  return context.text(out);
}

Value truncate(Context& context, std::span<Value> args) {
  const std::string_view text = args[0].as_text();
  const std::string_view ending = args.size() > 2 ? args[2].as_text() : "";
  const auto size_max = args[1].as_integer();
  const auto ending_size = static_cast<std::int64_t>(count_code_points(ending));
  if (size_max < ending_size) {
    return context.fail("invalid_argument", "the size is not negative and has room for the ending");
  }
  if (!context.spend_steps(1 + text.size() / 16)) return context.error();
  if (static_cast<std::int64_t>(count_code_points(text)) <= size_max) return args[0];
  std::size_t end = 0;
  for (std::int64_t i = ending_size; i < size_max; ++i) end += code_point_at(text, end).size;
  return context.text(std::string(text.substr(0, end)).append(ending));
}

Value remove_prefix(Context& context, std::span<Value> args) {
  std::string_view text = args[0].as_text();
  if (!text.starts_with(args[1].as_text())) return args[0];
  text.remove_prefix(args[1].as_text().size());
  return context.text(text);
}

Value remove_suffix(Context& context, std::span<Value> args) {
  std::string_view text = args[0].as_text();
  if (!text.ends_with(args[1].as_text())) return args[0];
  text.remove_suffix(args[1].as_text().size());
  return context.text(text);
}

Value is_blank(Context& context, std::span<Value> args) {
  const std::string_view text = args[0].as_text();
  if (!context.spend_steps(1 + text.size() / 16)) return context.error();
  return Value::boolean(text.find_first_not_of(" \t\r\n") == std::string_view::npos);
}

constexpr Overload text_overloads[] = {
    {"template(string, map(string, dyn)) -> string", fill_template,
     "The text with {name} or {a.b} replaced by values; {{ and }} stand for the braces, a missing name is an error.",
     R"(template("Dear {customer.name}, {count} items {{draft}}", {"customer": {"name": "Ann"}, "count": 3}))",
     R"("Dear Ann, 3 items {draft}")"},
    {"string.padStart(int) -> string", pad<true>, "With spaces before it up to a width in characters.",
     R"("7".padStart(3))", R"("  7")"},
    {"string.padStart(int, string) -> string", pad<true>,
     "With a character before it as often as needed for the width.", R"("7".padStart(3, "0"))", R"("007")"},
    {"string.padEnd(int) -> string", pad<false>, "With spaces after it up to a width in characters.",
     R"("ab".padEnd(4))", R"("ab  ")"},
    {"string.padEnd(int, string) -> string", pad<false>, "With a character after it as often as needed for the width.",
     R"("ab".padEnd(4, "."))", R"("ab..")"},
    {"string.truncate(int) -> string", truncate, "At most so many characters of it.", R"("grüße".truncate(3))",
     R"("grü")"},
    {"string.truncate(int, string) -> string", truncate,
     "At most so many characters, with an ending, counted in, where something was cut off.",
     R"("workflow".truncate(5, "…"))", R"("work…")"},
    {"string.removePrefix(string) -> string", remove_prefix, "Without the text that it may begin with.",
     R"("INV-7".removePrefix("INV-"))", R"("7")"},
    {"string.removeSuffix(string) -> string", remove_suffix, "Without the text that it may end with.",
     R"("a.json".removeSuffix(".json"))", R"("a")"},
    {"string.isBlank() -> bool", is_blank, "Whether there is nothing but spaces, tabs and line breaks.",
     R"(" \n".isBlank())", "true"},
};

}  // namespace

Library library_text() { return {"text", text_overloads}; }

}  // namespace cairn::expr
