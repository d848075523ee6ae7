#include "shrink.h"

#include <functional>
#include <vector>

#include "isolation.h"

namespace cairn::sim {

Shrunk shrink(Plan failing, const std::string& invariant, int tries_max) {
  Shrunk shrunk{failing, 0};
  const auto keeps_failing = [&](const Plan& smaller) {
    if (shrunk.tries >= tries_max) return false;
    ++shrunk.tries;
    const WorldOutcome outcome = run_isolated(smaller);
    if (!outcome.violation || outcome.violation->invariant != invariant) return false;
    shrunk.plan = smaller;
    return true;
  };
  // Faults first, all but one if possible; then people; then length.
  for (std::size_t i = 0; i < fault_count; ++i) {
    if (shrunk.plan.rates[i] == 0) continue;
    Plan smaller = shrunk.plan;
    smaller.rates[i] = 0;
    keeps_failing(smaller);
  }
  const std::vector<std::pair<int Plan::*, int>> numbers = {
      {&Plan::operators, 0}, {&Plan::clerks, 0},    {&Plan::clients, 1}, {&Plan::nodes, 1},
      {&Plan::workers, 1},   {&Plan::instances, 1}, {&Plan::actions, 0}};
  for (const auto& [member, least] : numbers) {
    while (shrunk.plan.*member > least) {
      Plan smaller = shrunk.plan;
      smaller.*member = least + (shrunk.plan.*member - least) / 2;
      if (keeps_failing(smaller)) continue;
      smaller.*member = shrunk.plan.*member - 1;
      if (!keeps_failing(smaller)) break;
    }
  }
  if (shrunk.plan.local_leases) {
    Plan smaller = shrunk.plan;
    smaller.local_leases = false;
    keeps_failing(smaller);
  }
  return shrunk;
}

}  // namespace cairn::sim
