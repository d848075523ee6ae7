// Marks reads on this thread as the basis of a decision. They are only used for a commit on top of them, so a store
// that commits ahead need not sync them first (Store::commit_unsynced). Code that reveals such a read without a commit
// must call `Store::sync` first.
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
