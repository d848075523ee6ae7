#include "cli/resume_command.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& resume_spec() {
  static const CommandSpec spec{"resume", "ID --store URL [--json]", "Resume a suspended instance as it is",
                                "",       {store_flag, json_flag},   {"cairn resume 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_resume(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(resume_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("resume", "name one instance", err);
  auto opened = StoreSession::open("resume", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  Actor actor;
  actor.name = "cli";
  const auto answer = session.coordinator().request({arguments.positional()[0]}, ResumeRequested{}, actor);
  if (!answer) return fail("resume", answer.error(), err);
  session.coordinator().settle();
  if (arguments.has("--json")) {
    out << write_json(server::document(*answer)) << "\n";
  } else {
    out << answer->instance.value << " " << to_string(answer->status) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
