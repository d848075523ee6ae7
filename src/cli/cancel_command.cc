#include "cli/commands.h"

#include "cli/instance_answer.h"

namespace cairn::cli {

const CommandSpec& cancel_spec() {
  static const CommandSpec spec{"cancel",
                                "ID [--reason TEXT] [--json]",
                                "Cancel an instance and its children",
                                "",
                                with_api_flags({{"--reason", "TEXT", "the reason, for the history"}, as_json_flag}),
                                {"cairn cancel 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_cancel(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(
      cancel_spec(), "cancel", args,
      [](const Arguments& given) {
        return Json::object({{"reason", given.value("--reason").value_or("")}});
      },
      out, err);
}

}  // namespace cairn::cli
