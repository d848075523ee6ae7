#include "definition/definition.h"

namespace cairn {
namespace {

// A key or an expression in a message may contain line breaks, but a finding must stay on one line.
void append_on_one_line(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += ' ';
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string format_diagnostic(const std::string& file, const Diagnostic& diagnostic) {
  std::string line = file + ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  line += diagnostic.severity == Diagnostic::Severity::error ? ": error: " : ": warning: ";
  append_on_one_line(diagnostic.message, line);
  line += " [";
  append_on_one_line(diagnostic.pointer, line);
  line += "]";
  return line;
}

}  // namespace cairn
