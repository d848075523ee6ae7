#include "store/postgres/cluster/presence.h"

#include <utility>

namespace cairn::postgres {

Presence::Change Presence::listed(Nodes nodes) {
  for (const auto& [number, works] : std::exchange(arrived_, {})) nodes[number] |= works;
  Change change;
  bool newcomer = false;
  for (const auto& [number, works] : nodes_) change.gone |= !nodes.contains(number);
  for (const auto& [number, works] : nodes) newcomer |= number != self_ && !nodes_.contains(number);
  nodes_ = std::move(nodes);
  known_ = true;
  if (newcomer) change.must_look = std::exchange(unsaid_, false);
  return change;
}

bool Presence::came(std::int64_t number, bool works) {
  arrived_[number] |= works;
  const bool newcomer = !nodes_.contains(number);
  nodes_[number] |= works;
  return newcomer && std::exchange(unsaid_, false);
}

bool Presence::worth_telling() {
  const bool alone = known_ && (nodes_.empty() || (nodes_.size() == 1 && nodes_.contains(self_)));
  unsaid_ |= alone;
  return !alone;
}

Presence::Share Presence::share() const {
  Share share{0, 0};
  bool among_them = false;
  for (const auto& [number, works] : nodes_) {
    if (!works) continue;
    if (number == self_) among_them = true;
    if (number < self_) ++share.place;
    ++share.nodes;
  }
  return among_them ? share : Share{};
}

}  // namespace cairn::postgres
