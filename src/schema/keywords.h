// The keywords of draft 2020-12 that contain schemas.
#pragma once

#include <string_view>

namespace cairn::schema {

enum class Holds { nothing, schema, list, map };

// What a keyword holds; `nothing` for keywords without schemas and for unknown keywords.
Holds schemas_held_by(std::string_view keyword);

}  // namespace cairn::schema
