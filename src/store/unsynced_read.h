// Marks what a thread reads as the ground of a decision: it goes nowhere but into what is committed on top of it, so a
// store that commits ahead need not settle it first (Store::commit_unsynced). Whoever tells somebody of it without a
// commit calls `Store::sync` before.
#pragma once

namespace cairn {

class UnsyncedRead {
 public:
  UnsyncedRead() { ++depth_; }
  ~UnsyncedRead() { --depth_; }
  UnsyncedRead(const UnsyncedRead&) = delete;
  UnsyncedRead& operator=(const UnsyncedRead&) = delete;

  static bool here() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace cairn
