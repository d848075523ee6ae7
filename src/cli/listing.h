// Prints a list of the API: a table on a terminal, tab-separated lines in a pipe, one JSON document with --json.
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
  std::function<std::vector<std::string>(const Json& item)> row;  // one text per column
  std::size_t most = 10'000;                                      // without --limit
  bool paged = true;                                              // the route takes `limit` and `cursor`
};

// The flags of every list: --limit, --cursor, --columns and --json, with those of the API.
std::vector<Flag> with_list_flags(std::vector<Flag> own);

// Reads the pages and prints them as the flags of the list say; returns the exit code.
int print_listing(ApiSession& api, const Listing& listing, const Arguments& arguments, std::ostream& out,
                  std::ostream& err);

// A member as the text of a cell: text unchanged, empty for null or a missing member, otherwise JSON.
std::string cell(const Json& item, std::string_view member);
// The age of a member that is an instant.
std::string age_cell(const Json& item, std::string_view member);

}  // namespace cairn::cli
