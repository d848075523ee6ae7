// Extends a sink's lock and the claims on its events while the sink delivers a batch. Both can therefore be short: a
// slow sink keeps them, and after a crash another node gets them soon.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "store/outbox_store.h"

namespace cairn {

class BatchKeeper {
 public:
  struct Terms {
    Duration lock;  // for each extension; the keeper extends after a third of it
    Duration hold;  // for the claims on the events
  };

  // `store` must outlive the keeper.
  BatchKeeper(OutboxStore& store, HostLock lock, std::string sink, std::vector<std::int64_t> events, Terms terms);
  ~BatchKeeper() { finish(); }

  // True if another node has the lock or may have it. The keeper extends nothing after that.
  bool lost() const { return lost_; }
  // Ends the batch. Returns whether the lock and the claims were held until now.
  bool finish();

 private:
  void run();
  bool extend();

  OutboxStore& store_;
  const HostLock lock_;
  const std::string sink_;
  const std::vector<std::int64_t> events_;
  const Terms terms_;
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::jthread thread_;
};

}  // namespace cairn
