#include "definition/findings.h"

#include <algorithm>
#include <tuple>

namespace cairn {

void Findings::error(SourcePlace at, std::string pointer, std::string message) {
  if (full()) return;
  ++errors_;
  found_.push_back({Diagnostic::Severity::error, at.line, at.column, std::move(message), std::move(pointer)});
}

void Findings::warning(SourcePlace at, std::string pointer, std::string message) {
  if (found_.size() >= 2 * gathered_max) return;
  found_.push_back({Diagnostic::Severity::warning, at.line, at.column, std::move(message), std::move(pointer)});
}

void Findings::add(std::vector<Diagnostic> found) {
  for (Diagnostic& diagnostic : found) {
    if (diagnostic.severity == Diagnostic::Severity::error) ++errors_;
    found_.push_back(std::move(diagnostic));
  }
}

std::vector<Diagnostic> Findings::take() {
  std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.line, a.column) < std::tie(b.line, b.column);
  });
  std::size_t errors = 0;
  std::erase_if(found_, [&errors](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::error && ++errors > errors_max;
  });
  errors_ = 0;
  return std::move(found_);
}

}  // namespace cairn
