// A JSON Schema (draft 2020-12) of the definition language for editors: completion, hover and a first check of YAML and
// JSON sources. It is generated from the reader's tables. Only the reader checks expressions and rules that span
// several places.
#pragma once

#include "base/json.h"

namespace cairn {

Json definition_schema();

}  // namespace cairn
