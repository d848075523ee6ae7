// A pattern (ECMA-262) on the first line, text after it: compiling and matching end, and the text as an escaped pattern
// matches itself alone.
#include "schema/pattern.h"

#include "base/utf8.h"
#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::schema;
  const std::string_view pattern = cairn::fuzzing::take_line(input);
  if (!cairn::is_utf8(pattern)) return;  // a schema is JSON, so its patterns are UTF-8
  const auto translated = translate_pattern(pattern);
  const auto compiled = Pattern::compile(pattern);
  if (compiled) {
    CAIRN_ASSERT(translated.has_value() && translated->unsupported.empty() && compiled->source() == pattern);
    CAIRN_ASSERT(is_pattern_syntax(translated->re2));
  } else {
    CAIRN_ASSERT(!compiled.error().empty());
  }
  if (!cairn::is_utf8(input)) return;
  if (compiled) static_cast<void>(compiled->matches(input));
  std::string literal = "^";
  for (const char c : input) {
    if (std::string_view("^$\\.*+?()[]{}|/").find(c) != std::string_view::npos) literal += '\\';
    literal += c;
  }
  const auto itself = Pattern::compile(literal + "$");
  if (!itself) return;  // too large
  CAIRN_ASSERT(itself->matches(input));
  CAIRN_ASSERT(!itself->matches(std::string(input) + "x"));
}
