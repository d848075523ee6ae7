#include "cli/commands.h"

#include "cli/exit_code.h"
#include "cli/loaded_file.h"
#include "definition/decompile.h"

namespace cairn::cli {
namespace {

// loan.approval -> loan_approval
std::string function_name(std::string_view workflow) {
  std::string name;
  for (const char c : workflow) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += fits ? c : '_';
  }
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) name.insert(0, "workflow_");
  return name;
}

bool is_identifier(std::string_view text) { return !text.empty() && function_name(text) == text; }

}  // namespace

const CommandSpec& decompile_spec() {
  static const CommandSpec spec{
      "decompile",
      "FILE [--to yaml|cpp] [-o OUT]",
      "Print source for a canonical definition: YAML, or C++ for the builder",
      "FILE is a definition in canonical JSON (as printed by `cairn compile`), YAML or JSON, or - for standard input.\n"
      "The source is readable and compiles to the same canonical bytes.\n"
      "Exit codes: 0 done, 8 invalid definition, 2 usage error or unreadable file.",
      {{"--to", "yaml|cpp", "the language of the source (default yaml)"},
       {"--function", "NAME", "the name of the C++ function (default: from the workflow's name)"},
       {"--output", "OUT", "write to this file instead of standard output", "-o"}},
      {"cairn decompile loan.json", "cairn decompile loan.json --to cpp -o loan.cc",
       "cairn compile loan.yaml | cairn decompile -"}};
  return spec;
}

int run_decompile(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(decompile_spec(), args, arguments, out, err)) return *over;
  const auto wrong_call = [&](const std::string& what) {
    err << "cairn decompile: " << what << "\n`cairn decompile --help` shows examples.\n";
    return exit_usage;
  };
  if (arguments.positional().size() != 1) return wrong_call("name one definition file");
  const std::string to = arguments.value("--to").value_or("yaml");
  if (to != "yaml" && to != "cpp") return wrong_call("--to takes yaml or cpp, not " + to);
  const auto function = arguments.value("--function");
  if (function && to != "cpp") return wrong_call("--function requires --to cpp");
  if (function && !is_identifier(*function)) return wrong_call("--function takes a C++ name, not " + *function);

  Definition definition;
  if (const int code = load_file("decompile", arguments.positional().front(), in, err, definition)) return code;
  const std::string text = to == "yaml" ? decompile_yaml(definition.canonical)
                                        : decompile_cpp(definition.canonical,
                                                        function ? *function : function_name(definition.program->name));
  return write_result("decompile", text, arguments.value("--output"), out, err);
}

}  // namespace cairn::cli
