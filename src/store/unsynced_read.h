// Marks what a thread reads as the ground of a decision: it goes nowhere but into what is committed on top of it, so a
// store that commits ahead need not settle it first (Store::commit_ahead). Whoever tells somebody of it without a
// commit calls `Store::settle` before.
#pragma once

namespace cairn {

class Deciding {
 public:
  Deciding() { ++depth_; }
  ~Deciding() { --depth_; }
  Deciding(const Deciding&) = delete;
  Deciding& operator=(const Deciding&) = delete;

  static bool here() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace cairn
