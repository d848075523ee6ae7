// src/upkeep keeps a store small and correct: retention removes old data, and verify.h checks the contents. The module
// uses base, definition, store and engine. Read `run_retention` first. Retention deletes what ended long ago, by age
// and status, in small batches, on one node at a time. It never touches live work: a tree of instances is removed as a
// whole, and only after all of it has ended.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "store/upkeep_store.h"

namespace cairn {

// How long the roles of a token's account are kept after its last token. A task can then be assigned to the person
// without a check of roles, as to any person that the server has not seen.
inline constexpr Duration token_users_kept = Duration::of_seconds(90 * 86'400);

// How long ended work is kept. Empty: for ever.
struct RetentionPolicy {
  std::optional<Duration> completed;
  std::optional<Duration> failed;
  std::optional<Duration> cancelled;
  std::optional<Duration> runs;    // finished runs without an instance
  std::optional<Duration> outbox;  // published events
  std::optional<Duration> keys;    // idempotency keys
  std::size_t batch = 100;         // root instances per transaction, each with its children

  bool keeps_everything() const { return !completed && !failed && !cancelled && !runs && !outbox && !keys; }
};

struct RetentionReport {
  bool ran = true;  // false: another node holds the lock
  std::size_t instances = 0;
  std::size_t runs = 0;
  std::size_t outbox = 0;
  std::size_t keys = 0;
  std::size_t users = 0;  // accounts of tokens
};

// Runs until nothing is old enough, `stop` returns true or the lock is lost. `owner` is the node.
Result<RetentionReport> run_retention(UpkeepStore& store, const std::string& owner, const RetentionPolicy& policy,
                                      const std::function<bool()>& stop = {});

// Runs retention at the start and then after each `every`, on its own thread.
class RetentionLoop {
 public:
  // `store` must outlive it.
  RetentionLoop(UpkeepStore& store, std::string owner, RetentionPolicy policy, std::chrono::milliseconds every);
  ~RetentionLoop();

  void start();
  void stop();

 private:
  void run();

  UpkeepStore& store_;
  std::string owner_;
  RetentionPolicy policy_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace cairn
