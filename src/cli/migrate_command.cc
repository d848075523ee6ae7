#include "cli/commands.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& migrate_spec() {
  static const CommandSpec spec{"migrate",
                                "--store URL [--json]",
                                "Bring the tables of a store to this version",
                                "A server does this when it opens a store; this command makes it a separate step. The "
                                "tables of a newer version or of a pre-release version are refused and not changed.",
                                {store_flag, json_flag},
                                {"cairn migrate --store sqlite:orders.db"}};
  return spec;
}

int run_migrate(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(migrate_spec(), args, arguments, out, err)) return *over;
  if (!arguments.positional().empty()) return wrong_call("migrate", "takes flags only", err);
  auto opened = StoreSession::open("migrate", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  const auto version = std::get<0>(opened)->store().schema_version();
  if (!version) return fail("migrate", version.error(), err);
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"schema_version", *version}})) << "\n";
  } else {
    out << "the tables have schema " << *version << "; nothing more to do\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
