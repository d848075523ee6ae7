#include "cli/commands.h"

#include "cli/instance_answer.h"

namespace cairn::cli {

const CommandSpec& retry_spec() {
  static const CommandSpec spec{"retry",
                                "ID [--json]",
                                "Retry the failed step of a suspended instance",
                                "",
                                with_api_flags({as_json_flag}),
                                {"cairn retry 0190… --server http://127.0.0.1:8400"}};
  return spec;
}

int run_retry(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(
      retry_spec(), "retry", args, [](const Arguments&) { return Json::object(); }, out, err);
}

}  // namespace cairn::cli
