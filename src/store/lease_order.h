// Selects which of the available runs are leased. Every back end uses this rule.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "store/rows.h"
#include "store/store.h"

namespace cairn {

struct LeaseCandidate {
  std::int64_t number = 0;  // the store's number; smaller is older
  std::string type;
  std::string limit_key;
  std::int64_t priority = 0;
  std::int64_t run_at_ms = 0;
  std::size_t line = 0;  // the first requested prefix or type that matches
};

// How many more runs of a type and key may be leased now.
class LeaseSlots {
 public:
  // The slots in use: active leases, and leases within the rate's window, by key.
  struct Use {
    std::map<std::string, int> leased;
    std::map<std::string, int> started;
  };
  void add(const RunTypeRow& rule, Use use);
  int left(const std::string& type, const std::string& key) const;
  void take(const std::string& type, const std::string& key);
  // Returns a slot that was taken for a run that could not be leased.
  void give_back(const std::string& type, const std::string& key);

 private:
  struct Limited {
    RunTypeRow rule;
    Use use;
  };
  std::map<std::string, Limited> limited_;
};

inline bool is_limited(const RunTypeRow& rule) { return rule.concurrency.has_value() || rule.rate.has_value(); }

// Selects at most `max` candidates in lease order: by priority; within a priority the lines take turns, so a flood
// under one prefix does not block another; within a line by due time.
std::vector<LeaseCandidate> choose(std::vector<LeaseCandidate> candidates, std::size_t max, LeaseSlots& slots);

// The line of a type in a request; empty if the type was not requested.
std::optional<std::size_t> line_of(const LeaseRequest& request, std::string_view type);

// The size of a run in the answer to a request: mostly its payload. Requests without a limit need not know it.
std::size_t lease_bytes(const LeaseRequest& request, const RunRow& run);

// Removes runs that the unit starts leased and then cancels, so that no worker gets them.
void drop_cancelled(const Advance& advance, CommitOutcome& outcome);

// Applies the settings of a type to a run that is being leased.
void apply_overrides(const RunTypeRow& rule, RunRow& run);

}  // namespace cairn
