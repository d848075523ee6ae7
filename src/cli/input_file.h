// Reads files and values that a user names on the command line.
#pragma once

#include <istream>
#include <string>

#include "base/json.h"

namespace cairn::cli {

// The whole file, or `in` for "-". ErrorCode::not_found if it cannot be read (the message names it). ErrorCode::limit
// if it is larger than `bytes_max`; then it is not read completely.
Result<std::string> read_input(const std::string& path, std::istream& in, std::size_t bytes_max);

// A JSON value given as `JSON` or as `@FILE`.
Result<Json> read_json_argument(const std::string& argument, std::istream& in, const JsonLimits& limits = {});

}  // namespace cairn::cli
