#include "generator.h"

#include "dice.h"
#include "workflow_source.h"

namespace cairn::sim {

GeneratedCase generate_case(std::uint64_t workflow_seed, const CaseBounds& bounds) {
  Dice dice(workflow_seed);
  GeneratedCase made;
  made.workflow_seed = workflow_seed;
  made.hints.signal_keys = {"key1", "a", "b", "x"};
  made.hints.people = {"mallory", "ann", "bob"};
  std::vector<std::string> children;
  const int count = dice.between(0, bounds.children_max);
  for (int i = 0; i < count; ++i) {
    CaseBounds smaller = bounds;
    smaller.steps_max = bounds.steps_max / 2;
    smaller.depth_max = bounds.depth_max - 1;
    // A child may start the children before it, never itself: starting always ends.
    const std::string name = "child." + std::to_string(i);
    WorkflowSource source(dice, smaller, children, made.hints);
    made.definitions.push_back(source.definition(name));
    children.push_back(name);
  }
  made.root = "root";
  WorkflowSource source(dice, bounds, children, made.hints);
  made.definitions.push_back(source.definition(made.root));
  made.input =
      Json::object({{"n", dice.between(0, 6)}, {"s", dice.chance(50) ? "key1" : "a"}, {"ok", dice.chance(50)}});
  return made;
}

Json random_payload(Dice& dice, int hostile_percent) {
  Json payload =
      Json::object({{"n", dice.between(0, 9)}, {"s", dice.chance(50) ? "a" : "key1"}, {"ok", dice.chance(70)}});
  if (!dice.chance(hostile_percent)) return payload;
  switch (dice.below(8)) {
    case 0: payload.erase("n"); return payload;
    case 1: payload.erase("ok"); return payload;
    case 2: payload.set("n", "seven"); return payload;
    case 3:
    case 4:
    case 5: payload.set("ok", 1); return payload;
    case 6: return Json();
    default: return Json(dice.between(0, 9));
  }
}

}  // namespace cairn::sim
