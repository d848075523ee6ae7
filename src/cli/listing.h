// A list of the API as commands print it: a table on a terminal, tab-separated lines in a pipe, one JSON document
// with --json.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/api_session.h"
#include "cli/arguments.h"

namespace cairn::cli {

struct Listing {
  ApiRequest request;
  std::vector<std::string> columns;
  std::function<std::vector<std::string>(const Json& item)> row;  // as many texts as there are columns
  std::size_t most = 10'000;
};

// Reads page after page and prints; the exit code.
int print_listing(ApiSession& api, const Listing& listing, const Arguments& arguments, std::ostream& out,
                  std::ostream& err);

// A member as the text of a cell: text as it is, nothing for null or a member that is not there, else JSON.
std::string cell(const Json& item, std::string_view member);
// How long ago a member that is an instant was.
std::string age_cell(const Json& item, std::string_view member);

}  // namespace cairn::cli
