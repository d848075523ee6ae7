// From the canonical form back to source.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn {

// YAML as a person would have written it: short forms, defaults and made-up ids left out. Of a
// valid definition it compiles to the same canonical bytes.
std::string decompile_yaml(const Json& canonical);

// A C++ source file with one function `function_name` that makes the definition with the builder of
// cairn/definition.h; it compiles to the same canonical bytes.
std::string decompile_cpp(const Json& canonical, std::string_view function_name);

}  // namespace cairn
