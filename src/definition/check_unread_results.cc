#include <algorithm>

#include "definition/checks.h"
#include "definition/draft.h"

namespace cairn {
namespace {

// Reading `state.a` reads `a.b` with it, and reading `state.a.b.c` reads a part of it.
bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const std::size_t shared = std::min(a.size(), b.size());
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(shared), b.begin());
}

}  // namespace

void check_unread_results(Draft& draft) {
  // Expressions that could not be read may be the ones that use the result.
  if (draft.expressions_broken) return;
  std::sort(draft.state_reads.begin(), draft.state_reads.end());
  draft.state_reads.erase(std::unique(draft.state_reads.begin(), draft.state_reads.end()), draft.state_reads.end());
  for (const Draft::ResultUse& result : draft.results) {
    const bool read = std::any_of(draft.state_reads.begin(), draft.state_reads.end(),
                                  [&](const auto& path) { return overlap(path, result.path.names); });
    if (!read) {
      draft.findings.warning(result.at, result.pointer,
                             "nothing reads this result; use `state." + result.path.text + "` or leave `result` out");
    }
  }
}

}  // namespace cairn
