// Checks which threads may call a store. A thread that delivers the answers of commits, or passes on a wake-up from
// inside a commit, must not. The writer may be waiting for that thread, so a call that waits for the writer would
// deadlock. Every store checks this in release builds too. Such a thread decides with what is in memory (MemoryOnly)
// and hands the rest to another thread (Deliveries::defer).
#pragma once

#include <mutex>
#include <utility>

#include "base/result.h"

namespace cairn {

// Forbids store calls on the calling thread during its lifetime.
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

// A decision that such a thread makes with what is in memory. Every lookup asks `may_call_store` before it calls the
// store. If a lookup was refused, the caller discards the decision and makes it again on another thread. On a thread
// that may call the store nothing is refused.
class MemoryOnly {
 public:
  MemoryOnly() : outer_(std::exchange(innermost_, this)) {}
  ~MemoryOnly() { innermost_ = outer_; }
  MemoryOnly(const MemoryOnly&) = delete;
  MemoryOnly& operator=(const MemoryOnly&) = delete;

  bool sufficed() const { return !refused_; }

  // The error is for the decision, not for the caller of the API.
  static Result<void> may_call_store() {
    if (innermost_ == nullptr || !StoreCallsForbidden::here()) return {};
    innermost_->refused_ = true;
    return Error{ErrorCode::unavailable, "this thread may not call the store"};
  }

 private:
  static inline thread_local MemoryOnly* innermost_ = nullptr;
  MemoryOnly* const outer_;
  bool refused_ = false;
};

// Every store function calls this first, directly or through StoreMutex.
inline void check_store_call() { CAIRN_ASSERT(!StoreCallsForbidden::here()); }

// A mutex that only store functions lock.
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
