// Reads JSON text into a SourceBuilder.
#pragma once

#include <optional>

#include "base/json_scan.h"
#include "definition/source_builder.h"

namespace cairn {

// Empty if the text was read; otherwise the JSON syntax error.
std::optional<JsonFault> read_json_source(const SourceText& text, const Limits& limits, SourceBuilder& builder);

}  // namespace cairn
