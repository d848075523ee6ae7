// Reads a file with values, in YAML or JSON.
#pragma once

#include <istream>
#include <string>

#include "base/json.h"
#include "base/limits.h"

namespace cairn::cli {

// The object in the file. ErrorCode::not_found if it cannot be read, ErrorCode::invalid if it is not an object; the
// message names the file and the place.
Result<Json> read_settings(const std::string& path, std::istream& in, const Limits& limits);

}  // namespace cairn::cli
