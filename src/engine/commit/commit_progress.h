// Whether commits make progress, for /livez. It has no thread and takes no lock, so it answers even if every other
// thread is stuck. Safe from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cairn {

class CommitProgress {
 public:
  // How long a commit may wait for a remote database before it counts as a stall of this process.
  static constexpr std::chrono::seconds remote_max{120};

  // `remote`: the database is a server elsewhere (StoreTraits::shared).
  explicit CommitProgress(bool remote) : remote_(remote) {}

  void submitted();                      // a unit is about to be queued
  void enter_commit() { ++in_commit_; }  // this thread calls the store
  void leave_commit();
  void synced() { note(); }
  void answered(std::size_t units);

  // How long nothing was written, synced or answered although units wait. Zero if none wait.
  std::chrono::nanoseconds stalled_for() const;

 private:
  void note();

  const bool remote_;
  std::atomic<std::size_t> open_ = 0;       // units without an answer
  std::atomic<std::size_t> in_commit_ = 0;  // threads inside the store's commit
  std::atomic<std::int64_t> last_at_ = 0;   // of the last progress, in nanoseconds of the steady clock
};

}  // namespace cairn
