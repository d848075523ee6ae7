#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& why_spec() {
  static const CommandSpec spec{"why",
                                "ID [--json]",
                                "Explain what an instance waits for, since when, and how to unblock it",
                                "",
                                with_api_flags({as_json_flag}),
                                {"cairn why 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_why(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(why_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("why", "name one instance", err);
  auto opened = ApiSession::open("why", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  const auto answer = api.ask({"GET", "/v1/instances/" + path_part(arguments.positional()[0]) + "/why"}, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
    return exit_done;
  }
  for (const Json& reason : document["reasons"].items()) {
    out << reason.text_or("reason", "");
    if (const auto since = parse_timestamp(reason.text_or("since", "")); since)
      out << " (for " << ago(*since, SystemClock().now()) << ")";
    out << ".\n";
    if (reason["command"].is_string()) out << "  " << reason["command"].as_string() << api.flags() << "\n";
    const Json& others = reason["alternatives"];
    for (std::size_t i = 0; others.is_array() && i < others.size(); ++i) {
      if (others.items()[i].is_string()) out << "  or: " << others.items()[i].as_string() << api.flags() << "\n";
    }
  }
  return exit_done;
}

}  // namespace cairn::cli
