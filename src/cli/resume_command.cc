#include "cli/resume_command.h"

#include "cli/instance_request.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& resume_spec() {
  static const CommandSpec spec{"resume", "ID --store URL [--json]", "Resume a suspended instance as it is",
                                "",       {store_flag, json_flag},   {"cairn resume 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_resume(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(
      resume_spec(), args, [](const Arguments&) { return ResumeRequested{}; }, out, err);
}

}  // namespace cairn::cli
