#include "cli/commands.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& migrate_spec() {
  static const CommandSpec spec{"migrate",
                                "--store URL [--json]",
                                "Upgrade the tables of a store to this version",
                                "Servers upgrade a store when they open it; use this command to do it as a separate\n"
                                "step. Tables of a newer cairn are refused and stay unchanged.",
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
    out << "the schema has version " << *version << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
