#include "cli/suspend_command.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& suspend_spec() {
  static const CommandSpec spec{"suspend",
                                "ID --store URL [--reason TEXT] [--json]",
                                "Suspend an instance: it holds what comes until it is resumed",
                                "",
                                {store_flag, {"--reason", "TEXT", "why, for the history"}, json_flag},
                                {"cairn suspend 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_suspend(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(suspend_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("suspend", "name one instance", err);
  auto opened = StoreSession::open("suspend", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  Actor actor;
  actor.name = "cli";
  const auto answer = session.coordinator().request({arguments.positional()[0]},
                                                    SuspendRequested{arguments.value("--reason").value_or("")}, actor);
  if (!answer) return fail("suspend", answer.error(), err);
  session.coordinator().settle();
  if (arguments.has("--json")) {
    out << write_json(server::document(*answer)) << "\n";
  } else {
    out << answer->instance.value << " " << to_string(answer->status) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
