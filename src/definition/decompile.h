// Turns the canonical form back into source.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn {

// Writes YAML as a person would: short forms, without defaults and generated ids. For a valid definition it compiles to
// the same canonical bytes.
std::string decompile_yaml(const Json& canonical);

// Writes a C++ source file with one function `function_name` that builds the definition with cairn/definition.h. It
// compiles to the same canonical bytes.
std::string decompile_cpp(const Json& canonical, std::string_view function_name);

}  // namespace cairn
