// Errors and warnings about a definition, for people: each with its source line and a mark under its column.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "definition/definition.h"

namespace cairn::cli {

// `source` is the text of the file; without it, only the messages are printed. In colour on a terminal.
void print_findings(const std::string& file, std::string_view source, const std::vector<Diagnostic>& findings,
                    std::ostream& err);

}  // namespace cairn::cli
