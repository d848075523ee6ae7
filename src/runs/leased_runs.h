// Runs that were leased through this node, so that a report need not read them back. Only a hint: the fence
// in the commit decides. Without payloads, but for the trace that they carry; bounded, and forgetting is always
// allowed.
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
  // As it was leased with this fence, and forgotten: a second report must look.
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
