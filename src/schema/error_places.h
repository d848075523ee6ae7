// Violations of a schema as the places of an Error.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "schema/schema.h"

namespace cairn::schema {

// `above` is the JSON pointer from the request's body to the data that the schema checked.
inline std::vector<ErrorPlace> error_places(const std::vector<Violation>& violations, const std::string& above = "") {
  std::vector<ErrorPlace> places;
  for (const Violation& violation : violations) places.push_back({above + violation.pointer, violation.message});
  return places;
}

}  // namespace cairn::schema
