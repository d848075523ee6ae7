#include "cli/load_definitions.h"

#include "cli/definition_files.h"
#include "cli/exit_code.h"
#include "cli/findings.h"
#include "cli/input_file.h"

namespace cairn::cli {

Result<std::shared_ptr<const Program>, int> load_program(const std::string& command, const std::string& file,
                                                         const Limits& limits, std::istream& in, std::ostream& err) {
  const auto text = read_input(file, in, limits.definition_bytes_max);
  if (!text) {
    if (text.error().code == ErrorCode::limit) {
      err << file << ":1:1: error: " << text.error().message << " []\n";
      return static_cast<int>(exit_invalid);
    }
    err << "cairn " << command << ": " << text.error().message << "\n";
    return static_cast<int>(exit_usage);
  }
  const Definition definition = load_definition(*text, file, limits);
  print_findings(file, *text, definition.diagnostics, err);
  if (!definition.valid()) return static_cast<int>(exit_invalid);
  return definition.program;
}

int load_programs(const std::string& command, const std::vector<std::string>& paths, const Limits& limits,
                  DefinitionIndex& index, std::istream& in, std::ostream& err) {
  for (const std::string& path : paths) {
    const auto files = definition_files(path);
    if (!files) {
      err << "cairn " << command << ": " << files.error().message << "\n";
      return exit_usage;
    }
    for (const std::string& file : *files) {
      auto program = load_program(command, file, limits, in, err);
      if (!program) return program.error();
      index.add(std::move(*program));
    }
  }
  return exit_done;
}

}  // namespace cairn::cli
