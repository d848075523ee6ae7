#include "cli/instance_request.h"

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

int send_request(const CommandSpec& spec, std::span<const std::string> args,
                 const std::function<decltype(Event::what)(const Arguments&)>& request, std::ostream& out,
                 std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(spec, args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call(spec.name, "name one instance", err);
  auto opened = StoreSession::open(spec.name, arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  Actor actor;
  actor.name = "cli";
  const auto answer = session.coordinator().request({arguments.positional()[0]}, request(arguments), actor);
  if (!answer) return fail(spec.name, answer.error(), err);
  session.coordinator().settle();
  if (arguments.has("--json")) {
    out << write_json(server::document(*answer)) << "\n";
  } else {
    out << answer->instance.value << " " << to_string(answer->status) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
