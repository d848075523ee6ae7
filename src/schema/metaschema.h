// The metaschema, for documents that refer to it.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn::schema {

constexpr std::string_view metaschema_uri = "https://json-schema.org/draft/2020-12/schema";

// The rules of draft 2020-12 as one document. The published metaschema spreads the same rules over eight documents.
const Json& metaschema();

}  // namespace cairn::schema
