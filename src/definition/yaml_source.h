// Reads YAML text into a SourceBuilder.
#pragma once

#include "definition/source_builder.h"

namespace cairn {

// False if the text is not usable; the findings tell why.
bool read_yaml_source(const SourceText& text, SourceBuilder& builder);

}  // namespace cairn
