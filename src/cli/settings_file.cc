#include "cli/settings_file.h"

#include "cli/input_file.h"
#include "definition/source.h"

namespace cairn::cli {

Result<Json> read_settings(const std::string& path, std::istream& in, const Limits& limits) {
  CAIRN_TRY(const std::string text, read_input(path, in, limits.definition_bytes_max));
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(text, limits, findings);
  // Includes findings that a parser tolerates, such as duplicate keys.
  for (const Diagnostic& finding : findings) {
    if (finding.severity == Diagnostic::Severity::error) {
      return Error{ErrorCode::invalid, format_diagnostic(path, finding)};
    }
  }
  if (!document.usable()) return Error{ErrorCode::invalid, path + ": cannot be read"};
  Json value = document.root().to_json();
  if (!value.is_object()) return Error{ErrorCode::invalid, path + ": must contain an object with names and values"};
  return value;
}

}  // namespace cairn::cli
