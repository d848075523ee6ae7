#include "cli/cancel_command.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& cancel_spec() {
  static const CommandSpec spec{"cancel",
                                "ID --store URL [--reason TEXT] [--json]",
                                "Cancel an instance and its children",
                                "",
                                {store_flag, {"--reason", "TEXT", "why, for the history"}, json_flag},
                                {"cairn cancel 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_cancel(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(cancel_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("cancel", "name one instance", err);
  auto opened = StoreSession::open("cancel", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  Actor actor;
  actor.name = "cli";
  const auto answer = session.coordinator().request({arguments.positional()[0]},
                                                    CancelRequested{arguments.value("--reason").value_or("")}, actor);
  if (!answer) return fail("cancel", answer.error(), err);
  session.coordinator().settle();
  if (arguments.has("--json")) {
    out << write_json(server::document(*answer)) << "\n";
  } else {
    out << answer->instance.value << " " << to_string(answer->status) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
