#include "cli/commands.h"

#include "base/json.h"
#include "base/version.h"
#include "cli/exit_code.h"
#include "expr/expression.h"

namespace cairn::cli {

const CommandSpec& version_spec() {
  static const CommandSpec spec{"version",
                                "[--json]",
                                "Print the versions of this binary and of its languages",
                                "",
                                {{"--json", "", "print one JSON document"}},
                                {"cairn version", "cairn version --json"}};
  return spec;
}

int run_version(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(version_spec(), args, arguments, out, err)) return *over;
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"cairn", version_text},
                                    {"definition_language", definition_language_version},
                                    {"expression_language", expr::language_version}}))
        << "\n";
  } else {
    out << "cairn " << version_text << " (definition language " << definition_language_version
        << ", expression language " << expr::language_version << ")\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
