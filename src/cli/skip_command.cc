#include "cli/commands.h"

#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/instance_answer.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& skip_spec() {
  static const CommandSpec spec{
      "skip",
      "ID [--result JSON|@FILE] [--json]",
      "Skip the failed step of a suspended instance",
      "",
      with_api_flags({{"--result", "JSON|@FILE", "the result of the skipped step (default null)"}, as_json_flag}),
      {"cairn skip 0190… --result '{\"score\": 700}' --server http://127.0.0.1:8400"}};
  return spec;
}

int run_skip(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(skip_spec(), args, arguments, out, err)) return *over;
  Json body = Json::object();
  if (const auto given = arguments.value("--result")) {
    auto result = read_json_argument(*given, in);
    if (!result) return fail("skip", result.error(), err);
    body.set("result", std::move(*result));
  }
  return send_request(
      skip_spec(), "skip", args, [&](const Arguments&) { return body; }, out, err);
}

}  // namespace cairn::cli
