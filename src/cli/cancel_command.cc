#include "cli/cancel_command.h"

#include "cli/instance_request.h"
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
  const auto request = [](const Arguments& given) { return CancelRequested{given.value("--reason").value_or("")}; };
  return send_request(cancel_spec(), args, request, out, err);
}

}  // namespace cairn::cli
