#include "engine/workflow_counts.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

namespace cairn {

namespace {

using ByStatus = std::pair<std::string, Status>;
using ByStep = std::pair<std::string, std::string>;

std::string other_labels(const std::string&) { return other_label; }
ByStatus other_labels(const ByStatus& key) { return {other_label, key.second}; }
ByStep other_labels(const ByStep&) { return {other_label, other_label}; }

// The entry of `key`, or the one of the labels that are not counted separately.
template <class Map>
typename Map::mapped_type& labelled(Map& map, typename Map::key_type key) {
  const auto found = map.find(key);
  if (found != map.end()) return found->second;
  return map[map.size() < workflow_labels_max ? std::move(key) : other_labels(key)];
}

// Calls `each` for the waits that `advance` closes and that were the first of their strand.
template <class Each>
void each_step_wait(const Advance& advance, const Snapshot& before, Each each) {
  // An instance may end hundreds of strands at once.
  constexpr std::size_t many = 8;
  if (advance.waits_closed.size() <= many) {
    for (const WaitToken& token : advance.waits_closed) {
      const auto wait =
          std::find_if(before.waits.begin(), before.waits.end(), [&](const Wait& one) { return one.token == token; });
      if (wait == before.waits.end()) continue;
      const auto strand = std::find_if(before.strands.begin(), before.strands.end(),
                                       [&](const Strand& one) { return one.id == wait->strand; });
      if (strand != before.strands.end() && !strand->waits.empty() && strand->waits.front() == token) each(*wait);
    }
    return;
  }
  std::unordered_set<std::string_view> closed;
  for (const WaitToken& token : advance.waits_closed) closed.insert(token.value);
  std::unordered_set<std::string_view> first;
  for (const Strand& strand : before.strands) {
    if (!strand.waits.empty()) first.insert(strand.waits.front().value);
  }
  for (const Wait& wait : before.waits) {
    if (closed.contains(wait.token.value) && first.contains(wait.token.value)) each(wait);
  }
}

}  // namespace

void SliceCounts::add(const Advance& advance, const Snapshot* before) {
  const Snapshot& after = advance.after;
  const bool ended = is_final(after.status) && (before == nullptr || !is_final(before->status));
  if (before == nullptr || ended) {
    instances.push_back({after.program.name, before == nullptr, ended ? std::optional(after.status) : std::nullopt});
  }
  if (before == nullptr || advance.waits_closed.empty()) return;
  each_step_wait(advance, *before, [&](const Wait& wait) {
    waits.push_back({before->program.name, wait.step, wait.kind, between(wait.since, after.changed_at)});
  });
}

void DurationHistogram::add(Duration length) {
  const std::int64_t ms = std::max<std::int64_t>(0, length.seconds * 1000 + length.nanos / 1'000'000);
  const double seconds = static_cast<double>(ms) / 1e3;
  ++buckets[static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin())];
  ++count;
  sum_ms += ms;
}

void WorkflowCounts::add(SliceCounts slice) {
  if (slice.instances.empty() && slice.waits.empty() && !slice.timer_late) return;
  const std::scoped_lock lock(mutex_);
  for (auto& instance : slice.instances) {
    if (instance.started) ++labelled(started_, instance.definition);
    if (instance.ended) ++labelled(ended_, {std::move(instance.definition), *instance.ended});
  }
  for (auto& wait : slice.waits) {
    waits_[static_cast<std::size_t>(wait.kind)].add(wait.length);
    labelled(steps_, {std::move(wait.definition), std::move(wait.step)}).add(wait.length);
  }
  if (slice.timer_late) timers_late_.add(*slice.timer_late);
}

void WorkflowCounts::add_leased(std::span<const RunRow> runs) {
  for (const RunRow& run : runs) {
    if (run.attempt <= 1) continue;
    const std::scoped_lock lock(mutex_);
    ++labelled(retries_, run.type);
  }
}

WorkflowCounts::ByName WorkflowCounts::started() const {
  const std::scoped_lock lock(mutex_);
  return started_;
}

WorkflowCounts::Ended WorkflowCounts::ended() const {
  const std::scoped_lock lock(mutex_);
  return ended_;
}

WorkflowCounts::Steps WorkflowCounts::steps() const {
  const std::scoped_lock lock(mutex_);
  return steps_;
}

WorkflowCounts::Waits WorkflowCounts::waits() const {
  const std::scoped_lock lock(mutex_);
  return waits_;
}

DurationHistogram WorkflowCounts::timers_late() const {
  const std::scoped_lock lock(mutex_);
  return timers_late_;
}

WorkflowCounts::ByName WorkflowCounts::retries() const {
  const std::scoped_lock lock(mutex_);
  return retries_;
}

}  // namespace cairn
