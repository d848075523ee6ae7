#include "cli/commands.h"

#include "cli/instance_answer.h"

namespace cairn::cli {

const CommandSpec& resume_spec() {
  static const CommandSpec spec{"resume",
                                "ID [--json]",
                                "Resume a suspended instance unchanged",
                                "",
                                with_api_flags({as_json_flag}),
                                {"cairn resume 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_resume(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(
      resume_spec(), "resume", args, [](const Arguments&) { return Json::object(); }, out, err);
}

}  // namespace cairn::cli
