#include "cli/findings.h"

#include <algorithm>

#include "base/utf8.h"
#include "cli/safe_output.h"
#include "cli/table.h"

namespace cairn::cli {
namespace {

constexpr std::size_t shown_max = 100;  // characters of a source line
constexpr std::size_t shown_before = 60;

std::vector<std::string_view> lines_of(std::string_view source) {
  std::vector<std::string_view> lines;
  while (!source.empty()) {
    const std::size_t end = source.find('\n');
    std::string_view line = source.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    source.remove_prefix(end + 1);
  }
  return lines;
}

// The characters of a line. A tab and other control characters take one column.
std::vector<std::string> characters_of(std::string_view line) {
  std::vector<std::string> characters;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t length = 1;
    while (i + length < line.size() && (static_cast<unsigned char>(line[i + length]) & 0xC0) == 0x80) ++length;
    const bool control = static_cast<unsigned char>(line[i]) < 0x20 || line[i] == 0x7F;
    characters.push_back(control ? " " : std::string(line.substr(i, length)));
    i += length;
  }
  return characters;
}

void paint(std::ostream& err, bool colour, const char* code) {
  if (colour) print_raw(err, code);
}

void print_source(std::string_view line, int number, int column, bool colour, std::ostream& err) {
  const std::vector<std::string> characters = characters_of(line);
  const std::size_t at = static_cast<std::size_t>(std::max(1, column)) - 1;
  const std::size_t begin = at > shown_before ? at - shown_before : 0;
  const std::size_t end = std::min(characters.size(), begin + shown_max);
  const std::string margin = std::to_string(number);
  paint(err, colour, "\033[2m");
  err << "  " << margin << " | ";
  paint(err, colour, "\033[0m");
  if (begin > 0) err << "…";
  for (std::size_t i = begin; i < end; ++i) err << characters[i];
  if (end < characters.size()) err << "…";
  err << "\n";
  paint(err, colour, "\033[2m");
  err << "  " << std::string(margin.size(), ' ') << " | ";
  paint(err, colour, "\033[0m");
  err << std::string(at - begin + (begin > 0 ? 1 : 0), ' ');
  paint(err, colour, "\033[1;32m");
  err << "^";
  paint(err, colour, "\033[0m");
  err << "\n";
}

void print_message(const std::string& file, const Diagnostic& finding, bool colour, std::ostream& err) {
  const std::string text = format_diagnostic(file, finding);
  const bool error = finding.severity == Diagnostic::Severity::error;
  const std::string word = error ? "error:" : "warning:";
  const std::size_t at = text.find(word, file.size());
  if (!colour || at == std::string::npos) {
    err << text << "\n";
    return;
  }
  err << text.substr(0, at);
  print_raw(err, error ? "\033[1;31m" : "\033[1;33m");
  err << word;
  print_raw(err, "\033[0m");
  err << text.substr(at + word.size()) << "\n";
}

}  // namespace

void print_findings(const std::string& file, std::string_view source, const std::vector<Diagnostic>& findings,
                    std::ostream& err) {
  if (findings.empty()) return;
  const bool colour = in_colour(err);
  const std::vector<std::string_view> lines = lines_of(source);
  for (const Diagnostic& finding : findings) {
    print_message(file, finding, colour, err);
    const auto index = static_cast<std::size_t>(finding.line) - 1;
    if (finding.line < 1 || index >= lines.size()) continue;
    print_source(lines[index], finding.line, finding.column, colour, err);
  }
}

}  // namespace cairn::cli
