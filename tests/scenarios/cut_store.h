// A store that accepts one commit of a unit that moves an instance. It refuses every further one, as if the process had
// died. It also records what was committed.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "stores/forwarding_store.h"

namespace cairn {

using CommittedBytes = std::map<std::string, std::vector<std::string>>;  // by instance, in order

// What was committed, by any process.
struct CommitLedger {
  CommittedBytes bytes;
  std::vector<TaskId> tasks_closed;
};

class CutStore final : public ForwardingStore {
 public:
  // `inner` and `ledger` must outlive it. Without `cuts` it only records.
  CutStore(Store& inner, CommitLedger& ledger, bool cuts) : ForwardingStore(inner), ledger_(ledger), cuts_(cuts) {}

  bool is_cut() const { return cut_; }

  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    if (cut_) return Error{ErrorCode::unavailable, "the process is gone"};
    auto outcomes = behind_.commit(units);
    if (!outcomes) return outcomes;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if ((*outcomes)[i].kind != CommitOutcome::Kind::done) continue;
      for (const Advance& advance : units[i].advances) {
        if (advance.outcome == Advance::Outcome::stale) continue;
        ledger_.bytes[advance.after.instance.value].push_back(encode_snapshot(advance.after));
        for (const TaskClosed& closed : advance.tasks_closed) ledger_.tasks_closed.push_back(closed.id);
        cut_ = cuts_;
      }
    }
    return outcomes;
  }

 private:
  CommitLedger& ledger_;
  bool cuts_;
  std::atomic<bool> cut_ = false;
};

}  // namespace cairn
