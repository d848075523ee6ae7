// The keys of a definition's top level.
#pragma once

#include "definition/keys.h"

namespace cairn {

extern const KeyTable document_table;

}  // namespace cairn
