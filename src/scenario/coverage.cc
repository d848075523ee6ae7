#include "scenario/coverage.h"

#include <algorithm>
#include <tuple>

namespace cairn {

void Coverage::add(const std::shared_ptr<const Program>& program, const Trace& trace) {
  Seen& seen = by_digest_[program->digest];
  seen.program = program;
  seen.steps.insert(trace.steps.begin(), trace.steps.end());
  seen.blocks.insert(trace.blocks.begin(), trace.blocks.end());
}

std::vector<DefinitionCoverage> Coverage::summary() const {
  std::vector<DefinitionCoverage> found;
  for (const auto& [digest, seen] : by_digest_) {
    DefinitionCoverage one;
    one.name = seen.program->name;
    one.version = seen.program->version;
    one.steps = seen.program->steps.size();
    one.steps_begun = seen.steps.size();
    for (BlockIndex block = 1; block < seen.program->blocks.size(); ++block) {
      // An empty lane has nothing to test.
      if (seen.program->blocks[block].steps.empty()) continue;
      ++one.lanes;
      if (seen.blocks.contains(block)) {
        ++one.lanes_entered;
      } else {
        one.missed.push_back(seen.program->places.block_place(block));
      }
    }
    found.push_back(std::move(one));
  }
  std::sort(found.begin(), found.end(), [](const DefinitionCoverage& a, const DefinitionCoverage& b) {
    return std::tie(a.name, a.version) < std::tie(b.name, b.version);
  });
  return found;
}

}  // namespace cairn
