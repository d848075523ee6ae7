// The output of most requests about an instance: its id and its status.
#pragma once

#include <ostream>

#include "cli/api_session.h"

namespace cairn::cli {

// Prints "ID status", or the document with --json. Returns the exit code.
int print_answer(const Arguments& arguments, const Json& document, std::ostream& out);

// Sends POST /v1/instances/{id}/VERB for the named instance; `body` is created from the arguments.
int send_request(const CommandSpec& spec, std::string_view verb, std::span<const std::string> args,
                 const std::function<Json(const Arguments&)>& body, std::ostream& out, std::ostream& err);

}  // namespace cairn::cli
