#include "cli/commands.h"

#include "cli/exit_code.h"
#include "cli/loaded_file.h"

namespace cairn::cli {

const CommandSpec& compile_spec() {
  static const CommandSpec spec{
      "compile",
      "FILE [--pretty | --digest] [-o OUT]",
      "Print a definition's canonical JSON, the form the engine runs",
      "FILE is a definition in YAML or JSON, or - for standard input. The canonical form has sorted keys, explicit\n"
      "defaults and expressions as {\"$expr\": …}. Its SHA-256 is the digest of the definition. Findings are\n"
      "printed on standard error. Exit codes: 0 done, 8 invalid definition, 2 usage error or unreadable file.",
      {{"--pretty", "", "indent the output; the digest is that of the compact form"},
       {"--digest", "", "print only the digest"},
       {"--output", "OUT", "write to this file instead of standard output", "-o"}},
      {"cairn compile loan.yaml", "cairn compile --digest loan.yaml", "cairn compile --pretty loan.yaml | less",
       "cairn compile loan.yaml -o loan.json"}};
  return spec;
}

int run_compile(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(compile_spec(), args, arguments, out, err)) return *over;
  const auto wrong_call = [&](std::string_view what) {
    err << "cairn compile: " << what << "\n`cairn compile --help` shows examples.\n";
    return exit_usage;
  };
  if (arguments.positional().size() != 1) return wrong_call("name one definition file");
  if (arguments.has("--pretty") && arguments.has("--digest"))
    return wrong_call("--pretty and --digest exclude each other");

  Definition definition;
  if (const int code = load_file("compile", arguments.positional().front(), in, err, definition)) return code;
  const std::string text = arguments.has("--digest")   ? definition.digest
                           : arguments.has("--pretty") ? write_json_pretty(definition.canonical)
                                                       : write_json(definition.canonical);
  return write_result("compile", text + "\n", arguments.value("--output"), out, err);
}

}  // namespace cairn::cli
