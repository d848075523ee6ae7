#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/instance_answer.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& state_spec() {
  static const CommandSpec spec{
      "state",
      "[show|edit] ID [--patch JSON|@FILE] [--reason TEXT] [--json]",
      "Show the business state of an instance, or edit it",
      "`edit` merges the patch into the state (RFC 7396): members are set, and null removes a member. The\n"
      "instance must not have ended. If a step failed, run `cairn retry` afterwards.",
      with_api_flags({{"--patch", "JSON|@FILE", "edit: the merge patch"},
                      {"--reason", "TEXT", "edit: the reason, for the history and the audit trail"},
                      {"--if-state-version", "N", "edit: fail if the instance has another state version"},
                      as_json_flag}),
      {"cairn state 0190… --server http://127.0.0.1:8400", "cairn state edit 0190… --patch '{\"amount\": 12}'"}};
  return spec;
}

int run_state(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(state_spec(), args, arguments, out, err)) return *over;
  std::vector<std::string> given = arguments.positional();
  if (given.size() == 1) given.insert(given.begin(), "show");
  if (given.size() != 2 || (given[0] != "show" && given[0] != "edit"))
    return wrong_call("state", "use show or edit, and name one instance", err);
  const bool edit = given[0] == "edit";
  Json patch;
  if (edit) {
    const auto text = arguments.value("--patch");
    if (!text) return wrong_call("state", "edit needs --patch", err);
    auto json = read_json_argument(*text, in);
    if (!json) return fail("state", json.error(), err);
    if (!json->is_object()) return wrong_call("state", "--patch must be a JSON object", err);
    patch = std::move(*json);
  }
  auto opened = ApiSession::open("state", arguments, edit ? ApiSession::Use::change : ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiRequest request{edit ? "PATCH" : "GET", "/v1/instances/" + path_part(given[1]) + (edit ? "/state" : "")};
  request.body = patch;
  if (const auto reason = arguments.value("--reason"); edit && reason) request.query.emplace_back("reason", *reason);
  if (const auto version = arguments.value("--if-state-version"); edit && version) {
    request.headers.emplace_back("if-match", *version);
  }
  const auto answer = std::get<0>(opened)->ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (edit) return print_answer(arguments, document, out);
  out << (arguments.has("--json") ? write_json(document["state"]) : write_json_pretty(document["state"])) << "\n";
  return exit_done;
}

}  // namespace cairn::cli
