// Which threads may call a store. A thread that delivers the answers of commits, or passes on a wake-up from inside a
// commit, may not: the writer can be waiting for that thread, so a verb that waits for the writer would never return.
// Every store checks this in its verbs, in release builds too. What needs the store goes to another thread
// (Coordinator::defer).
#pragma once

#include <mutex>

#include "base/result.h"

namespace cairn {

// Forbids the calling thread to call a store for as long as this lives.
class StoreCallsForbidden {
 public:
  StoreCallsForbidden() { ++depth_; }
  ~StoreCallsForbidden() { --depth_; }
  StoreCallsForbidden(const StoreCallsForbidden&) = delete;
  StoreCallsForbidden& operator=(const StoreCallsForbidden&) = delete;

  static bool here() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

// The first thing that a verb does, or the lock that it takes does it.
inline void check_store_call() { CAIRN_ASSERT(!StoreCallsForbidden::here()); }

// A mutex that only verbs of a store take.
class StoreMutex {
 public:
  void lock() {
    check_store_call();
    mutex_.lock();
  }
  bool try_lock() {
    check_store_call();
    return mutex_.try_lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace cairn
