#include "store/lease_order.h"

#include <algorithm>
#include <climits>
#include <tuple>

#include "base/json_size.h"

namespace cairn {

void LeaseSlots::add(const RunTypeRow& rule, Use use) { limited_[rule.type] = {rule, std::move(use)}; }

int LeaseSlots::left(const std::string& type, const std::string& key) const {
  const auto found = limited_.find(type);
  if (found == limited_.end()) return INT_MAX;
  const auto& [rule, use] = found->second;
  const auto used = [&key](const std::map<std::string, int>& counts) {
    const auto count = counts.find(key);
    return count == counts.end() ? 0 : count->second;
  };
  int left = INT_MAX;
  if (rule.concurrency) left = std::min(left, *rule.concurrency - used(use.leased));
  if (rule.rate) left = std::min(left, *rule.rate - used(use.started));
  return std::max(0, left);
}

void LeaseSlots::take(const std::string& type, const std::string& key) {
  const auto found = limited_.find(type);
  if (found == limited_.end()) return;
  ++found->second.use.leased[key];
  ++found->second.use.started[key];
}

void LeaseSlots::give_back(const std::string& type, const std::string& key) {
  const auto found = limited_.find(type);
  if (found == limited_.end()) return;
  --found->second.use.leased[key];
  --found->second.use.started[key];
}

std::vector<LeaseCandidate> choose(std::vector<LeaseCandidate> candidates, std::size_t max, LeaseSlots& slots) {
  std::sort(candidates.begin(), candidates.end(), [](const LeaseCandidate& a, const LeaseCandidate& b) {
    return std::tie(b.priority, a.run_at_ms, a.number) < std::tie(a.priority, b.run_at_ms, b.number);
  });
  // The rank within its line and priority. Sorting by rank takes the first of every line first.
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> counted;
  std::vector<std::pair<std::size_t, const LeaseCandidate*>> turns;
  turns.reserve(candidates.size());
  for (const LeaseCandidate& one : candidates) turns.emplace_back(counted[{one.line, one.priority}]++, &one);
  std::stable_sort(turns.begin(), turns.end(), [](const auto& a, const auto& b) {
    return std::tie(b.second->priority, a.first) < std::tie(a.second->priority, b.first);
  });
  std::vector<LeaseCandidate> chosen;
  for (const auto& [turn, one] : turns) {
    if (chosen.size() == max) break;
    if (slots.left(one->type, one->limit_key) == 0) continue;
    slots.take(one->type, one->limit_key);
    chosen.push_back(*one);
  }
  return chosen;
}

std::optional<std::size_t> line_of(const LeaseRequest& request, std::string_view type) {
  if (request.prefixes.empty() && request.types.empty()) {
    return type.starts_with("default.") ? std::optional<std::size_t>(0) : std::nullopt;
  }
  for (std::size_t i = 0; i < request.types.size(); ++i) {
    if (type == request.types[i]) return i;
  }
  for (std::size_t i = 0; i < request.prefixes.size(); ++i) {
    if (type.starts_with(request.prefixes[i])) return request.types.size() + i;
  }
  return std::nullopt;
}

void apply_overrides(const RunTypeRow& rule, RunRow& run) {
  // This lease must still count as an allowed attempt.
  if (rule.attempts_max) run.attempts_max = std::max(*rule.attempts_max, run.attempt);
  if (rule.backoff) run.backoff = *rule.backoff;
  if (rule.cap) run.cap = *rule.cap;
}

std::size_t lease_bytes(const LeaseRequest& request, const RunRow& run) {
  constexpr std::size_t other_bytes = 640;  // of the other members, roughly
  if (request.bytes_max == std::numeric_limits<std::size_t>::max()) return 0;
  return other_bytes + written_beyond(run.payload, 0).value_or(0);
}

void drop_cancelled(const Advance& advance, CommitOutcome& outcome) {
  const auto& cancelled = advance.runs_cancelled;
  std::erase_if(outcome.leased, [&](const RunRow& run) {
    return std::find(cancelled.begin(), cancelled.end(), run.id) != cancelled.end();
  });
}

}  // namespace cairn
