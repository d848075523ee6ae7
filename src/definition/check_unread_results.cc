#include <algorithm>
#include <set>

#include "definition/checks.h"
#include "definition/draft.h"

namespace cairn {
namespace {

using Path = std::vector<std::string>;

bool begins_with(const Path& path, const Path& with) {
  return with.size() <= path.size() && std::equal(with.begin(), with.end(), path.begin());
}

// Reading `state.a` also reads `a.b`, and reading `state.a.b.c` reads a part of it.
bool is_read(const std::set<Path>& reads, const Path& result) {
  Path outer;
  if (reads.contains(outer)) return true;
  for (const std::string& name : result) {
    outer.push_back(name);
    if (reads.contains(outer)) return true;
  }
  const auto inner = reads.lower_bound(result);
  return inner != reads.end() && begins_with(*inner, result);
}

}  // namespace

void check_unread_results(Draft& draft) {
  // An expression that failed to compile may be the one that reads the result.
  if (draft.expressions_broken) return;
  std::set<Path> reads;
  for (const Draft::StateRead& read : draft.state_reads) reads.insert(read.path);
  for (const Draft::ResultUse& result : draft.results) {
    if (is_read(reads, result.path.names)) continue;
    draft.findings.warning(result.at, result.pointer,
                           "nothing reads this result; use `state." + result.path.text + "` or leave `result` out");
  }
}

}  // namespace cairn
