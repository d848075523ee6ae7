#include "cli/commands.h"

#include "cli/exit_code.h"
#include "definition/definition_schema.h"

namespace cairn::cli {

const CommandSpec& schema_spec() {
  static const CommandSpec spec{
      "schema",
      "",
      "Print the JSON Schema of the definition language",
      "Editors with JSON Schema support use it to complete and check definitions. It checks the structure;\n"
      "`cairn validate` checks everything.",
      {},
      {"cairn schema > definition.schema.json",
       "# yaml-language-server: $schema=definition.schema.json   as the first line of a definition"}};
  return spec;
}

int run_schema(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(schema_spec(), args, arguments, out, err)) return *over;
  if (!arguments.positional().empty()) {
    err << "cairn schema: takes no arguments\n";
    return exit_usage;
  }
  out << write_json_pretty(definition_schema()) << "\n";
  return exit_done;
}

}  // namespace cairn::cli
