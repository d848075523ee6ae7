// Which of the runs that could be leased are: the same rule on every back end.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/rows.h"
#include "store/store.h"

namespace cairn {

struct LeaseCandidate {
  std::int64_t number = 0;  // the store's; smaller is older
  std::string type;
  std::string limit_key;
  std::int64_t priority = 0;
  std::int64_t run_at_ms = 0;
  std::size_t line = 0;  // which of the prefixes and types asked for it belongs to, the first that fits
};

// How many more runs of a type and key may be leased now.
class LeaseSlots {
 public:
  // What is in use: live leases, and leases within the rate's window, by key.
  struct Use {
    std::map<std::string, int> leased;
    std::map<std::string, int> started;
  };
  void add(const RunTypeRow& rule, Use use);
  int left(const std::string& type, const std::string& key) const;
  void take(const std::string& type, const std::string& key);
  // What was taken and could not be leased after all.
  void give_back(const std::string& type, const std::string& key);

 private:
  struct Limited {
    RunTypeRow rule;
    Use use;
  };
  std::map<std::string, Limited> limited_;
};

inline bool is_limited(const RunTypeRow& rule) { return rule.concurrency.has_value() || rule.rate.has_value(); }

// At most `max` of them, in the order in which they are leased: by priority; among equals the lines take
// turns, so that a flood under one prefix does not hold up another; within a line by due time.
std::vector<LeaseCandidate> choose(std::vector<LeaseCandidate> candidates, std::size_t max, LeaseSlots& slots);

// The line of a type in a request, or nothing when it was not asked for.
std::optional<std::size_t> line_of(const LeaseRequest& request, std::string_view type);

// A run that a unit begins leased and then cancels is nobody's to work on.
void drop_cancelled(const Advance& advance, CommitOutcome& outcome);

// What a type's row says about a run that is being leased.
void apply_overrides(const RunTypeRow& rule, RunRow& run);

}  // namespace cairn
