// Which threads may call a store. A thread that delivers the answers of commits, or passes on a wake-up from inside a
// commit, may not: the writer can be waiting for that thread, so a verb that waits for the writer would never return.
// Every store checks this in its verbs, in release builds too. Such a thread decides with what is in memory (MemoryOnly);
// what needs the store goes to another thread (Coordinator::defer).
#pragma once

#include <mutex>
#include <utility>

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

// A decision that such a thread makes with what is in memory. Every lookup on the way asks `may_call_store` before it
// calls the store. When one of them was refused, the decision is worth nothing: it is made again on another thread.
// On a thread that may call the store nothing is refused.
class MemoryOnly {
 public:
  MemoryOnly() : outer_(std::exchange(innermost_, this)) {}
  ~MemoryOnly() { innermost_ = outer_; }
  MemoryOnly(const MemoryOnly&) = delete;
  MemoryOnly& operator=(const MemoryOnly&) = delete;

  bool sufficed() const { return !refused_; }

  // The error is for whoever decides, not for whoever asked.
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
