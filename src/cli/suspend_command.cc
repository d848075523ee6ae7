#include "cli/commands.h"

#include "cli/instance_answer.h"

namespace cairn::cli {

const CommandSpec& suspend_spec() {
  static const CommandSpec spec{"suspend",
                                "ID [--reason TEXT] [--json]",
                                "Suspend an instance until it is resumed",
                                "",
                                with_api_flags({{"--reason", "TEXT", "the reason, for the history"}, as_json_flag}),
                                {"cairn suspend 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_suspend(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(
      suspend_spec(), "suspend", args,
      [](const Arguments& given) {
        return Json::object({{"reason", given.value("--reason").value_or("")}});
      },
      out, err);
}

}  // namespace cairn::cli
