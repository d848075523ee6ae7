// A JSON Schema (draft 2020-12) of the definition language, for editors: completion, hover and a first check of YAML
// and JSON sources. Made from the tables that the reader uses; what needs expressions or several places of a
// definition at once is the reader's alone.
#pragma once

#include "base/json.h"

namespace cairn {

Json definition_schema();

}  // namespace cairn
