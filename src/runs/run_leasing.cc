#include "runs/run_leasing.h"

#include <algorithm>

#include "base/duration_max.h"
#include "instance/carried_trace.h"

namespace cairn {

void RunLeasing::lease_here(std::vector<std::string> types, Duration length, std::function<void(RunRow)> take) {
  const std::lock_guard lock(mutex_);
  lease_ = RunLease{node_, length, std::move(types)};
  take_ = std::move(take);
}

void RunLeasing::stop_leasing_here() {
  const std::lock_guard lock(mutex_);
  lease_.reset();
}

Result<std::shared_ptr<LeaseWaiters::Promise>> RunLeasing::lease_new_runs(Unit& unit) {
  std::shared_ptr<LeaseWaiters::Promise> promise;
  std::vector<std::string> types;
  for (Advance& advance : unit.advances) {
    for (RunIntent& run : advance.runs) {
      if (run.timeout) run.timeout = std::min(*run.timeout, duration_max);
      CAIRN_TRY(std::string key, types_.limit_key(run.type, without_trace(run.payload).value));
      if (!key.empty()) unit.limit_keys.emplace_back(run.id, std::move(key));
      types.push_back(run.type);
    }
  }
  if (types.empty()) return promise;
  {
    const std::lock_guard lock(mutex_);
    const auto ours = [this](const std::string& type) {
      return std::find(lease_->types.begin(), lease_->types.end(), type) != lease_->types.end();
    };
    if (lease_ && std::any_of(types.begin(), types.end(), ours)) {
      unit.lease = lease_;
      return promise;
    }
  }
  promise = waiters_.promise(types);
  if (promise) unit.lease = promise->lease();
  return promise;
}

void RunLeasing::hand_over(std::vector<RunRow> leased, LeaseWaiters::Promise* promise) {
  if (leased.empty()) return;
  std::function<void(RunRow)> take;
  {
    const std::lock_guard lock(mutex_);
    take = take_;
  }
  for (RunRow& run : leased) {
    if (promise != nullptr) {
      promise->keep(std::move(run));
    } else if (take) {
      take(std::move(run));
    }
  }
}

}  // namespace cairn
