// The schema of schemas, for documents that refer to it.
#pragma once

#include <string_view>

#include "base/json.h"

namespace cairn::schema {

constexpr std::string_view metaschema_uri = "https://json-schema.org/draft/2020-12/schema";

// The rules of draft 2020-12 as one document; the published one spreads the same rules over eight.
const Json& metaschema();

}  // namespace cairn::schema
