// The rules for names in a definition (rules S1, S7, S24, R7).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "definition/keys.h"
#include "definition/program.h"

namespace cairn {

// What is wrong with `text` as a name of this shape, as the end of the sentence "`name` …"; empty if it is valid.
std::optional<std::string> name_fault(Shape shape, std::string_view text, const Limits& limits);

// `decision`, `score.value`: names [A-Za-z_][A-Za-z0-9_-]* joined by dots.
std::optional<StatePath> parse_state_path(std::string_view text);

// [A-Za-z_][A-Za-z0-9_-]*
bool is_plain_name(std::string_view text);
// Whether the language uses the name: `input`, `state`, …, and the reserved words of CEL.
bool is_reserved_name(std::string_view text);

}  // namespace cairn
