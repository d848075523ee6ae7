// A cache of runs leased through this node, so that a report need not read them from the store. It is only a hint: the
// fence in the commit decides. It holds no payloads except their trace. It is bounded, and every entry may be dropped.
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "instance/carried_trace.h"
#include "store/rows.h"

namespace cairn {

class LeasedRuns {
 public:
  static constexpr std::size_t runs_max = 65'536;

  void remember(std::span<const RunRow> runs) {
    const std::lock_guard lock(mutex_);
    if (runs_.size() + runs.size() > runs_max) runs_.clear();
    for (const RunRow& run : runs) {
      RunRow& kept = runs_[run.id.value];
      kept = run;
      kept.payload = with_trace(Json(), trace_in(run.payload));
    }
  }
  // Returns and removes the run as leased with this fence. A second report must read the store.
  std::optional<RunRow> take(const RunId& id, std::uint64_t fence) {
    const std::lock_guard lock(mutex_);
    const auto found = runs_.find(id.value);
    if (found == runs_.end() || found->second.fence != fence) return std::nullopt;
    std::optional<RunRow> run = std::move(found->second);
    runs_.erase(found);
    return run;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, RunRow> runs_;
};

}  // namespace cairn
