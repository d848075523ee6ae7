// Quotes user input in faults and violations, cut to the length of a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"

namespace cairn::schema {

// `text`, in backquotes, cut at a code point when it is long.
std::string quoted(std::string_view text);
// A value as JSON, cut when it is long.
std::string shown(const Json& value);
// "1 item", "2 items".
std::string counted(std::uint64_t count, std::string_view noun);
// "a string", "an integer", "null".
std::string kind_with_article(Json::Kind kind);

}  // namespace cairn::schema
