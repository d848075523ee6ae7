#include "cli/suspend_command.h"

#include "cli/instance_request.h"
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
  const auto request = [](const Arguments& given) { return SuspendRequested{given.value("--reason").value_or("")}; };
  return send_request(suspend_spec(), args, request, out, err);
}

}  // namespace cairn::cli
