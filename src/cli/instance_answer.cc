#include "cli/instance_answer.h"

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

int print_answer(const Arguments& arguments, const Json& document, std::ostream& out) {
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
    return exit_done;
  }
  out << document.text_or("id", "") << " " << document.text_or("status", "");
  if (document["repeated"] == Json(true)) out << " (done before)";
  if (const Json& output = document["output"]; !output.is_null()) out << " " << write_json(output);
  out << "\n";
  return exit_done;
}

int send_request(const CommandSpec& spec, std::string_view verb, std::span<const std::string> args,
                 const std::function<Json(const Arguments&)>& body, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(spec, args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call(spec.name, "name one instance", err);
  auto opened = ApiSession::open(spec.name, arguments, ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiRequest request{"POST", "/v1/instances/" + path_part(arguments.positional()[0]) + "/" + std::string(verb)};
  request.body = body(arguments);
  const auto answer = std::get<0>(opened)->ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  return print_answer(arguments, std::get<0>(answer).body, out);
}

}  // namespace cairn::cli
