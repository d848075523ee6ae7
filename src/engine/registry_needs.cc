// Finds the definitions that a program may start, on a node that does not know them yet.
#include <set>

#include "engine/registry.h"

namespace cairn {

// A notification can be late or lost, so only the store can tell that a workflow is unknown. Null if the store cannot
// tell now: then nothing may be decided.
std::shared_ptr<const DefinitionIndex> Registry::index_for(const Program& program) {
  std::set<std::pair<std::string, std::string>> seen;
  std::vector<std::shared_ptr<const Program>> held;
  std::vector<const Program*> next = {&program};
  while (!next.empty()) {
    const Program* one = next.back();
    next.pop_back();
    for (const auto& needed : one->needs.subworkflows) {
      if (!seen.insert(needed).second) continue;
      auto found = find(needed.first, needed.second.empty() ? std::nullopt : std::optional(needed.second));
      if (!found && found.error().code == ErrorCode::unavailable) return nullptr;
      if (!found) continue;
      held.push_back(std::move(*found));
      next.push_back(held.back().get());
    }
  }
  return index();
}

}  // namespace cairn
