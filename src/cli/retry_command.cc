#include "cli/retry_command.h"

#include "cli/instance_request.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& retry_spec() {
  static const CommandSpec spec{"retry", "ID --store URL [--json]", "Try the failed step of a suspended instance again",
                                "",      {store_flag, json_flag},   {"cairn retry 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_retry(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  return send_request(
      retry_spec(), args, [](const Arguments&) { return RetryRequested{}; }, out, err);
}

}  // namespace cairn::cli
