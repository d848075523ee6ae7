#include <charconv>

#include "base/json.h"
#include "expr/decimal.h"
#include "expr/expression.h"
#include "expr/function.h"
#include "expr/value_walk.h"

namespace cairn::expr {

namespace {

using Kind = Value::Kind;

Value coalesce(Context&, std::span<Value> args) {
  for (Value& candidate : args) {
    Value value = std::move(candidate);
    while (value.is(Kind::optional) && value.has_value()) value = value.optional_value();
    if (!value.is(Kind::null) && !value.is(Kind::optional)) return value;
  }
  return {};
}

Value clamp(Context& context, std::span<Value> args) {
  const auto range = compare(args[1], args[2]);
  const auto to_low = compare(args[0], args[1]);
  const auto to_high = compare(args[0], args[2]);
  if (!range || !to_low || !to_high) return context.fail("no_such_overload", "the three values of clamp have no order");
  if (*range > 0) return context.fail("invalid_argument", "the lower bound of clamp is above the upper one");
  return *to_low < 0 ? args[1] : *to_high > 0 ? args[2] : args[0];
}

// Rounds the shortest digits that represent the double, because users see those: 2.675 becomes 2.68 although the
// nearest double is slightly smaller.
Value round_to(Context& context, std::span<Value> args) {
  const double number = args[0].to_double();
  const std::int64_t digits = args[1].as_integer();
  if (digits < 0 || digits > 30) return context.fail("invalid_argument", "roundTo takes 0 to 30 digits");
  if (number - number != 0 || args[0].is(Kind::integer)) return args[0];
  char text[512];
  const auto written = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed);
  if (written.ec != std::errc()) return args[0];
  const auto exact = Decimal::parse({text, static_cast<std::size_t>(written.ptr - text)});
  if (!exact.has_value()) return context.fail("overflow", exact.error().message);
  const auto rounded = exact->round(digits, Rounding::half_up);
  if (!rounded.has_value()) return context.fail("overflow", rounded.error().message);
  return Value::number(rounded->to_double());
}

// Decodes a token. `valid` is false if it is malformed.
std::string unescape(std::string_view token, bool& valid) {
  std::string result;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      result.push_back(token[i]);
    } else if (i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      result.push_back(token[++i] == '0' ? '~' : '/');
    } else {
      valid = false;
    }
  }
  return result;
}

// An index as RFC 6901 writes it: digits without a leading zero.
std::optional<std::size_t> list_index(std::string_view token) {
  if (token.empty() || token.size() > 9 || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  return index;
}

Value json_pointer(Context& context, std::span<Value> args) {
  std::string_view rest = args[1].as_text();
  if (!context.spend_steps(1 + rest.size() / 8)) return context.error();
  Value current = args[0];
  if (!rest.empty() && rest.front() != '/') {
    return context.fail("invalid_argument", "a JSON pointer is empty or begins with /");
  }
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/', 1), rest.size());
    bool valid = true;
    const std::string token = unescape(rest.substr(1, end - 1), valid);
    if (!valid) return context.fail("invalid_argument", "in a JSON pointer ~ is written ~0 and / is written ~1");
    rest.remove_prefix(end);
    std::optional<Value> next;
    if (current.is(Kind::map)) {
      next = current.find(token);
    } else if (current.is(Kind::list)) {
      const auto index = list_index(token);
      if (index && *index < current.size()) next = current.item(*index);
    }
    if (!next) return Value::none();
    current = *std::move(next);
  }
  return context.some(std::move(current));
}

Value to_json_text(Context& context, std::span<Value> args) {
  if (!spend_walk(context, args[0])) return context.error();
  const auto json = to_json(args[0]);
  if (!json.has_value()) return context.fail("not_json", json.error().message);
  return context.text(write_json(*json));
}

Value parse_json_text(Context& context, std::span<Value> args) {
  const std::string_view text = args[0].as_text();
  // A value needs several bytes of memory for each byte of its text: in [0,0,0], 16 for every 2.
  if (!context.spend_steps(1 + text.size() / 4) || !context.spend_bytes(text.size() * 8)) return context.error();
  auto json = parse_json(text);
  if (!json.has_value()) return context.fail("invalid_argument", "not JSON: " + json.error().message);
  return from_json(*json);
}

constexpr Overload general_overloads[] = {
    {"coalesce(dyn...) -> dyn", coalesce,
     "The first argument that is neither null nor an absent optional, or null; `.?` makes a missing key absent.",
     R"(coalesce({"a": 1}.?b, null, "none"))", R"("none")"},
    {"clamp(T, T, T) -> T", clamp, "The value, or the bound that it is beyond.", "clamp(15, 0, 10)", "10"},
    {"roundTo(double, int) -> double", round_to,
     "Rounded to so many digits after the point, half away from zero, by the digits that the number is written with.",
     "roundTo(2.675, 2)", "2.68"},
    {"roundTo(int, int) -> int", round_to, "A whole number is round already.", "roundTo(3, 2)", "3"},
    {"jsonPointer(dyn, string) -> optional_type(dyn)", json_pointer,
     "The value at a JSON pointer (RFC 6901), absent if there is none.",
     R"(jsonPointer({"a": [{"b": 7}]}, "/a/0/b").orValue(0))", "7"},
    {"toJson(dyn) -> string", to_json_text, "The value as JSON text, compact, keys in order.",
     R"(toJson({"b": [1, 2.5], "a": null}))", R"("{\"a\":null,\"b\":[1,2.5]}")"},
    {"parseJson(string) -> dyn", parse_json_text, "The value that JSON text stands for.",
     R"js(parseJson("{\"a\": [1]}").a[0])js", "1"},
};

}  // namespace

Library library_general() { return {"general", general_overloads}; }

}  // namespace cairn::expr
