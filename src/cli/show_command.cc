#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/instance_text.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& show_spec() {
  static const CommandSpec spec{"show",
                                "ID [--json]",
                                "Show an instance: its progress, state, waits, error and output",
                                "",
                                with_api_flags({as_json_flag}),
                                {"cairn show 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_show(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(show_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("show", "name one instance", err);
  auto opened = ApiSession::open("show", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  const std::string place = "/v1/instances/" + path_part(arguments.positional()[0]);
  const auto answer = api.ask({"GET", place}, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
    return exit_done;
  }
  // Show the rest even if the definition or the snapshot cannot be read.
  const auto tree = api.call({"GET", place + "/diagram", {{"format", "txt"}}});
  print_instance(out, document, tree && tree->ok() ? tree->text : "");
  if (document["snapshot_error"].is_string())
    out << "\nIts snapshot cannot be read: " << document["snapshot_error"].as_string() << "\n";
  return exit_done;
}

}  // namespace cairn::cli
