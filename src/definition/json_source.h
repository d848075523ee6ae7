// JSON text into a SourceBuilder.
#pragma once

#include <optional>

#include "base/json_scan.h"
#include "definition/source_builder.h"

namespace cairn {

// Nothing when the text was read; otherwise what is wrong with it as JSON.
std::optional<JsonFault> read_json_source(const SourceText& text, const Limits& limits, SourceBuilder& builder);

}  // namespace cairn
