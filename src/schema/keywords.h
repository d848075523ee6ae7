// Where draft 2020-12 keeps schemas inside schemas.
#pragma once

#include <string_view>

namespace cairn::schema {

enum class Holds { nothing, schema, list, map };

// What a keyword holds; `nothing` for those without schemas and for unknown ones.
Holds schemas_held_by(std::string_view keyword);

}  // namespace cairn::schema
