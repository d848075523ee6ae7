// Removing what ended long ago: by age and status, in small batches, one node at a time. Work that still
// lives is never touched: a tree of instances goes as a whole, and only when all of it has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "store/store.h"

namespace cairn {

// How long what has ended is kept. Absent: for ever.
struct RetentionPolicy {
  std::optional<Duration> completed;
  std::optional<Duration> failed;
  std::optional<Duration> cancelled;
  std::optional<Duration> runs;    // finished runs without an instance
  std::optional<Duration> outbox;  // published events
  std::optional<Duration> keys;    // idempotency keys
  std::size_t batch = 100;         // instances with their children, a transaction

  bool keeps_everything() const { return !completed && !failed && !cancelled && !runs && !outbox && !keys; }
};

struct RetentionReport {
  bool ran = true;  // false: another node is at it
  std::size_t instances = 0;
  std::size_t runs = 0;
  std::size_t outbox = 0;
  std::size_t keys = 0;
};

// Until nothing is left that is old enough, `stop` says so, or the lock is lost. `owner` is the node.
Result<RetentionReport> run_retention(Store& store, const std::string& owner, const RetentionPolicy& policy,
                                      const std::function<bool()>& stop = {});

// Does it when it starts and then again each time `every` has passed, on a thread of its own.
class RetentionLoop {
 public:
  // `store` outlives it.
  RetentionLoop(Store& store, std::string owner, RetentionPolicy policy, std::chrono::milliseconds every);
  ~RetentionLoop();

  void start();
  void stop();

 private:
  void run();

  Store& store_;
  std::string owner_;
  RetentionPolicy policy_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace cairn
