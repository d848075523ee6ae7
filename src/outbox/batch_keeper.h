// Keeps a sink's lock and its claimed events while a batch is under way, however slow its sinks are: so both can
// be short, and what a node died with is free soon.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "store/store.h"

namespace cairn {

class BatchKeeper {
 public:
  struct Terms {
    Duration lock;  // each time; a third of it passes in between
    Duration hold;  // of the events
  };

  // `store` outlives it.
  BatchKeeper(Store& store, HostLock lock, std::string sink, std::vector<std::int64_t> events, Terms terms);
  ~BatchKeeper() { finish(); }

  // Another node has taken over, or might have: nothing is kept any more.
  bool lost() const { return lost_; }
  // The batch is over. Whether it was kept until now.
  bool finish();

 private:
  void run();
  bool extend();

  Store& store_;
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
