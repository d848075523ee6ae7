#include "cli/loaded_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "cli/exit_code.h"
#include "cli/findings.h"
#include "cli/input_file.h"
#include "cli/safe_output.h"
#include "cli/table.h"

namespace cairn::cli {

int load_file(std::string_view command, const std::string& path, std::istream& in, std::ostream& err,
              Definition& definition) {
  const Limits limits;
  const auto text = read_input(path, in, limits.definition_bytes_max);
  if (!text && text.error().code != ErrorCode::limit) {
    err << "cairn " << command << ": " << text.error().message << "\n";
    return exit_usage;
  }
  if (text) {
    definition = load_definition(*text, path, limits);
  } else {
    const std::string bytes = std::to_string(limits.definition_bytes_max);
    definition.diagnostics.push_back(
        {Diagnostic::Severity::error, 1, 1, "the file is larger than the limit of " + bytes + " bytes", ""});
  }
  print_findings(path, text ? *text : "", definition.diagnostics, err);
  return definition.valid() ? exit_done : exit_invalid;
}

int write_result(std::string_view command, const std::string& text, const std::optional<std::string>& file,
                 std::ostream& out, std::ostream& err) {
  if (!file || *file == "-") {
    // Documents go to files and programs unchanged; only a terminal is protected.
    if (on_terminal(out)) {
      out << text;
    } else {
      print_raw(out, text);
    }
    out << std::flush;
    return out || reader_is_gone(out) ? exit_done : exit_failed;
  }
  std::ofstream written(*file, std::ios::binary | std::ios::trunc);
  written << text << std::flush;
  if (written) return exit_done;
  err << "cairn " << command << ": " << *file << ": cannot be written (" << std::strerror(errno) << ")\n";
  return exit_failed;
}

}  // namespace cairn::cli
