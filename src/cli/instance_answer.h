// What most requests about an instance end with: its id and how it stands.
#pragma once

#include <ostream>

#include "cli/api_session.h"

namespace cairn::cli {

// "ID status", or the document with --json. The exit code.
int print_answer(const Arguments& arguments, const Json& document, std::ostream& out);

// POST /v1/instances/{id}/VERB for the one instance that is named; `body` is made from the arguments.
int send_request(const CommandSpec& spec, std::string_view verb, std::span<const std::string> args,
                 const std::function<Json(const Arguments&)>& body, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
