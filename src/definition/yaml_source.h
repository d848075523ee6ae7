// YAML text into a SourceBuilder.
#pragma once

#include "definition/source_builder.h"

namespace cairn {

// False when the text cannot be used; the findings say why.
bool read_yaml_source(const SourceText& text, SourceBuilder& builder);

}  // namespace cairn
