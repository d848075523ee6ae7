// A report about a whole store: made here for --store, or asked of --server.
#pragma once

#include <functional>
#include <variant>

#include "cli/api_session.h"
#include "store/store.h"

namespace cairn::cli {

// The report, or the exit code after the error was printed. A local store is opened without an engine, so that a
// damaged one can be examined.
std::variant<Json, int> upkeep_report(std::string_view command, const std::string& path,
                                      const std::function<Result<Json>(Store&)>& read, const Arguments& arguments,
                                      std::ostream& err);

}  // namespace cairn::cli
