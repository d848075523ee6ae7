// The standard functions of CEL: sizes, conversions, tests on text, types.
#include <re2/re2.h>

#include "base/utf8.h"
#include "expr/duration_text.h"
#include "expr/function.h"
#include "expr/number_text.h"
#include "expr/operators.h"

namespace cairn::expr {

namespace {

using Args = std::span<Value>;

Value same_value(Context&, Args args) { return std::move(args[0]); }

Value range_error(Context& context, const char* type) {
  return context.fail("overflow", std::string("the value is outside the range of ") + type);
}

Value not_a(Context& context, const char* type, std::string_view text) {
  return context.fail("invalid_argument", "`" + std::string(text.substr(0, 64)) + "` is not a " + type);
}

Value size_of_text(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!context.spend_steps(text.size() / 16)) return context.error();
  return Value::integer(static_cast<std::int64_t>(count_code_points(text)));
}
Value size_of_bytes(Context&, Args args) { return Value::integer(static_cast<std::int64_t>(args[0].as_text().size())); }
Value size_of_container(Context&, Args args) { return Value::integer(static_cast<std::int64_t>(args[0].size())); }

Value starts_with(Context&, Args args) { return Value::boolean(args[0].as_text().starts_with(args[1].as_text())); }
Value ends_with(Context&, Args args) { return Value::boolean(args[0].as_text().ends_with(args[1].as_text())); }
Value contains_text(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  if (!context.spend_steps(text.size() / 8 + args[1].as_text().size() / 16)) return context.error();
  return Value::boolean(memmem(text.data(), text.size(), args[1].as_text().data(), args[1].as_text().size()) !=
                        nullptr);
}

Value matches(Context& context, Args args) {
  const re2::RE2* program = context.regex(args[1].as_text());
  if (!program) return context.error();
  const std::string_view text = args[0].as_text();
  // The cost is linear in the text, times a factor for the pattern if its automaton does not fit into memory.
  if (!context.spend_steps(text.size() / 8 * static_cast<std::uint64_t>(1 + program->ProgramSize() / 64)))
    return context.error();
  return Value::boolean(re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *program));
}

Value type_of(Context&, Args args) { return Value::type(type_name(args[0])); }

Value integer_of_unsigned(Context& context, Args args) {
  if (args[0].as_unsigned() > 9223372036854775807u) return range_error(context, "int");
  return Value::integer(static_cast<std::int64_t>(args[0].as_unsigned()));
}
Value integer_of_number(Context& context, Args args) {
  const double value = args[0].as_number();
  if (!(value > -9223372036854775808.0 && value < 9223372036854775808.0)) return range_error(context, "int");
  return Value::integer(static_cast<std::int64_t>(value));
}
Value integer_of_text(Context& context, Args args) {
  const auto value = parse_integer(args[0].as_text());
  return value ? Value::integer(*value) : not_a(context, "whole number of 64 bits", args[0].as_text());
}
Value integer_of_timestamp(Context&, Args args) { return Value::integer(args[0].as_timestamp().seconds); }

Value unsigned_of_integer(Context& context, Args args) {
  if (args[0].as_integer() < 0) return range_error(context, "uint");
  return Value::unsigned_integer(static_cast<std::uint64_t>(args[0].as_integer()));
}
Value unsigned_of_number(Context& context, Args args) {
  const double value = args[0].as_number();
  if (!(value > -1.0 && value < 18446744073709551616.0)) return range_error(context, "uint");
  return Value::unsigned_integer(static_cast<std::uint64_t>(value));
}
Value unsigned_of_text(Context& context, Args args) {
  const auto value = parse_unsigned(args[0].as_text());
  return value ? Value::unsigned_integer(*value) : not_a(context, "whole number without sign", args[0].as_text());
}

Value number_of_whole(Context&, Args args) { return Value::number(args[0].to_double()); }
Value number_of_text(Context& context, Args args) {
  const auto value = parse_number(args[0].as_text());
  return value ? Value::number(*value) : not_a(context, "number", args[0].as_text());
}

Value boolean_of_text(Context& context, Args args) {
  const std::string_view text = args[0].as_text();
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return Value::boolean(true);
  }
  for (const std::string_view word : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return Value::boolean(false);
  }
  return not_a(context, "bool", text);
}

Value text_of_bytes(Context& context, Args args) {
  const std::string_view bytes = args[0].as_text();
  if (!context.spend_steps(bytes.size() / 16)) return context.error();
  if (!is_utf8(bytes)) return context.fail("invalid_argument", "the bytes are not valid UTF-8");
  return context.text(bytes);
}
Value bytes_of_text(Context& context, Args args) { return context.bytes(args[0].as_text()); }
Value text_of_boolean(Context& context, Args args) { return context.text(args[0].as_bool() ? "true" : "false"); }
Value text_of_integer(Context& context, Args args) { return context.text(std::to_string(args[0].as_integer())); }
Value text_of_unsigned(Context& context, Args args) { return context.text(std::to_string(args[0].as_unsigned())); }
Value text_of_number(Context& context, Args args) { return context.text(format_number(args[0].as_number())); }
Value text_of_timestamp(Context& context, Args args) { return context.text(format_timestamp(args[0].as_timestamp())); }
Value text_of_duration(Context& context, Args args) { return context.text(format_seconds(args[0].as_duration())); }

Value timestamp_of_text(Context& context, Args args) {
  const auto value = parse_timestamp(args[0].as_text());
  if (!value) return context.fail("invalid_argument", value.error().message);
  return Value::timestamp(*value);
}
Value timestamp_of_integer(Context& context, Args args) {
  const std::int64_t seconds = args[0].as_integer();
  if (seconds < Timestamp::seconds_min || seconds > Timestamp::seconds_max) {
    return context.fail("overflow", "the time is outside the years 1 to 9999");
  }
  return Value::timestamp({seconds, 0});
}
Value duration_of_text(Context& context, Args args) {
  const auto value = read_duration(args[0].as_text());
  if (!value)
    return context.fail(value.error().code == ErrorCode::limit ? "overflow" : "invalid_argument",
                        value.error().message);
  return Value::duration(*value);
}
Value duration_of_integer(Context& context, Args args) {
  const Duration value = Duration::of_seconds(args[0].as_integer());
  if (!in_range(value)) return context.fail("overflow", "the duration is longer than 10000 years");
  return Value::duration(value);
}

const Overload standard_overloads[] = {
    {"size(string) -> int", size_of_text, "The number of characters (code points).", "size(\"grün\")", "4"},
    {"size(bytes) -> int", size_of_bytes, "The number of bytes.", "size(b\"abc\")", "3"},
    {"size(list(T)) -> int", size_of_container, "The number of items.", "size([1, 2])", "2"},
    {"size(map(K, V)) -> int", size_of_container, "The number of entries.", "size({\"a\": 1})", "1"},
    {"string.size() -> int", size_of_text, "The number of characters (code points).", "\"grün\".size()", "4"},
    {"bytes.size() -> int", size_of_bytes, "The number of bytes.", "b\"abc\".size()", "3"},
    {"list(T).size() -> int", size_of_container, "The number of items.", "[1, 2].size()", "2"},
    {"map(K, V).size() -> int", size_of_container, "The number of entries.", "{\"a\": 1}.size()", "1"},
    {"string.startsWith(string) -> bool", starts_with, "Whether the text begins with another.",
     "\"abc\".startsWith(\"ab\")", "true"},
    {"string.endsWith(string) -> bool", ends_with, "Whether the text ends with another.", "\"abc\".endsWith(\"bc\")",
     "true"},
    {"string.contains(string) -> bool", contains_text, "Whether another text is inside.", "\"abc\".contains(\"b\")",
     "true"},
    {"string.matches(string) -> bool", matches, "Whether a regular expression (RE2) matches somewhere in the text.",
     "\"A-17\".matches(\"^[A-Z]-[0-9]+$\")", "true"},
    {"matches(string, string) -> bool", matches, "Whether a regular expression (RE2) matches somewhere in the text.",
     "matches(\"A-17\", \"[0-9]\")", "true"},
    {"type(T) -> type(T)", type_of, "The type of a value.", "type(1) == int", "true"},
    {"dyn(T) -> dyn", same_value, "The same value, with a type that is looked at only when evaluating.",
     "dyn(1) == 1.0", "true"},
    {"bool(bool) -> bool", same_value, "The same value.", "bool(true)", "true"},
    {"bool(string) -> bool", boolean_of_text, "Reads true, false, t, f, 1, 0.", "bool(\"true\")", "true"},
    {"int(int) -> int", same_value, "The same value.", "int(3)", "3"},
    {"int(uint) -> int", integer_of_unsigned, "The same number; beyond 64 bits with sign it is an error.", "int(3u)",
     "3"},
    {"int(double) -> int", integer_of_number, "The number without its fraction, towards zero.", "int(-3.7)", "-3"},
    {"int(string) -> int", integer_of_text, "Reads a whole number.", "int(\"42\")", "42"},
    {"int(timestamp) -> int", integer_of_timestamp, "Seconds since 1970-01-01T00:00:00Z.",
     "int(timestamp(\"1970-01-01T00:01:00Z\"))", "60"},
    {"uint(uint) -> uint", same_value, "The same value.", "uint(3u)", "3u"},
    {"uint(int) -> uint", unsigned_of_integer, "The same number; a negative one is an error.", "uint(3)", "3u"},
    {"uint(double) -> uint", unsigned_of_number, "The number without its fraction.", "uint(3.7)", "3u"},
    {"uint(string) -> uint", unsigned_of_text, "Reads a whole number without sign.", "uint(\"42\")", "42u"},
    {"double(double) -> double", same_value, "The same value.", "double(1.5)", "1.5"},
    {"double(int) -> double", number_of_whole, "The nearest double.", "double(3)", "3.0"},
    {"double(uint) -> double", number_of_whole, "The nearest double.", "double(3u)", "3.0"},
    {"double(string) -> double", number_of_text, "Reads a number.", "double(\"1.5\")", "1.5"},
    {"string(string) -> string", same_value, "The same text.", "string(\"a\")", "\"a\""},
    {"string(bool) -> string", text_of_boolean, "true or false.", "string(true)", "\"true\""},
    {"string(int) -> string", text_of_integer, "The digits.", "string(42)", "\"42\""},
    {"string(uint) -> string", text_of_unsigned, "The digits.", "string(42u)", "\"42\""},
    {"string(double) -> string", text_of_number, "The shortest digits that read back to the same number.",
     "string(0.1)", "\"0.1\""},
    {"string(bytes) -> string", text_of_bytes, "The text that the bytes are in UTF-8.", "string(b\"abc\")", "\"abc\""},
    {"string(timestamp) -> string", text_of_timestamp, "RFC 3339 in UTC.", "string(timestamp(0))",
     "\"1970-01-01T00:00:00Z\""},
    {"string(duration) -> string", text_of_duration, "Seconds with fraction.", "string(duration(\"1m\"))", "\"60s\""},
    {"bytes(bytes) -> bytes", same_value, "The same bytes.", "bytes(b\"a\")", "b\"a\""},
    {"bytes(string) -> bytes", bytes_of_text, "The UTF-8 of a text.", "bytes(\"a\")", "b\"a\""},
    {"timestamp(timestamp) -> timestamp", same_value, "The same time.", "timestamp(timestamp(0)) == timestamp(0)",
     "true"},
    {"timestamp(string) -> timestamp", timestamp_of_text, "Reads RFC 3339.",
     "timestamp(\"2024-02-02T08:00:00Z\").getFullYear()", "2024"},
    {"timestamp(int) -> timestamp", timestamp_of_integer, "Seconds since 1970-01-01T00:00:00Z.",
     "timestamp(60) == timestamp(\"1970-01-01T00:01:00Z\")", "true"},
    {"duration(duration) -> duration", same_value, "The same length of time.",
     "duration(duration(\"1s\")) == duration(\"1s\")", "true"},
    {"duration(string) -> duration", duration_of_text, "Reads 1h30m, 1.5h, 250ms, 3d or ISO 8601 (PT1H30M).",
     "duration(\"PT1H\") == duration(\"60m\")", "true"},
    {"duration(int) -> duration", duration_of_integer, "That many seconds.", "duration(60) == duration(\"1m\")",
     "true"},
};

}  // namespace

Library library_standard() { return {"standard", standard_overloads}; }

}  // namespace cairn::expr
