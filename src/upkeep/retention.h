// src/upkeep keeps a store small and correct: retention removes old data, and verify.h checks the contents. The module
// uses base, definition, store and engine. Read `run_retention` first. Retention deletes what ended long ago, by age
// and status, in small batches, on one node at a time. It never removes live work: a tree of instances is removed as a
// whole, and only after all of it has ended. Stale work is ended through the engine (stale_work.h), and audit rows are
// exported first (retire_audit.h).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "cairn/keep_for.h"
#include "engine/core.h"

namespace cairn {

// How long the roles of a token's account are kept after its last token. A task can then be assigned to the person
// without a check of roles, as to any person that the server has not seen.
inline constexpr Duration token_users_kept = Duration::of_seconds(90 * 86'400);

// How long each kind is kept (cairn/keep_for.h). Empty: for ever.
struct RetentionPolicy {
  std::optional<Duration> completed = {};
  std::optional<Duration> failed = {};
  std::optional<Duration> cancelled = {};
  std::optional<Duration> runs = {};
  std::optional<Duration> deleted_runs = {};
  std::optional<Duration> run_events = {};
  std::optional<Duration> dead_letters = {};
  std::optional<Duration> outbox = {};
  std::optional<Duration> keys = {};
  std::optional<Duration> audit = {};
  std::optional<Duration> stale_tasks = {};
  std::optional<Duration> stale_instances = {};
  std::size_t batch = 100;  // root instances per transaction, each with its children

  bool keeps_everything() const;
};

// The kinds by the names of their settings (`keep.NAME`) and of requests.
inline constexpr std::pair<const char*, std::optional<Duration> RetentionPolicy::*> retention_periods[] = {
    {"completed", &RetentionPolicy::completed},
    {"failed", &RetentionPolicy::failed},
    {"cancelled", &RetentionPolicy::cancelled},
    {"runs", &RetentionPolicy::runs},
    {"deleted_runs", &RetentionPolicy::deleted_runs},
    {"run_events", &RetentionPolicy::run_events},
    {"dead_letters", &RetentionPolicy::dead_letters},
    {"outbox", &RetentionPolicy::outbox},
    {"keys", &RetentionPolicy::keys},
    {"audit", &RetentionPolicy::audit},
    {"stale_tasks", &RetentionPolicy::stale_tasks},
    {"stale_instances", &RetentionPolicy::stale_instances},
};

RetentionPolicy policy_of(const KeepFor& keep);

struct RetentionReport {
  bool ran = true;    // false: another node holds the lock
  bool more = false;  // `stop` ended the run before all of it was removed
  std::size_t instances = 0;
  std::size_t runs = 0;
  std::size_t deleted_runs = 0;
  std::size_t run_events = 0;  // without those that went with their run
  std::size_t dead_letters = 0;
  std::size_t outbox = 0;
  std::size_t keys = 0;
  std::size_t audit = 0;
  std::size_t users = 0;            // accounts of tokens
  std::size_t stale_tasks = 0;      // ended, not removed
  std::size_t stale_instances = 0;  // cancelled, not removed

  std::size_t total() const;
};

// The counts by the names that answers, logs and metrics have.
inline constexpr std::pair<const char*, std::size_t RetentionReport::*> retention_counts[] = {
    {"instances", &RetentionReport::instances},
    {"runs", &RetentionReport::runs},
    {"deleted_runs", &RetentionReport::deleted_runs},
    {"run_events", &RetentionReport::run_events},
    {"dead_letters", &RetentionReport::dead_letters},
    {"outbox", &RetentionReport::outbox},
    {"keys", &RetentionReport::keys},
    {"audit", &RetentionReport::audit},
    {"token_users", &RetentionReport::users},
    {"stale_tasks", &RetentionReport::stale_tasks},
    {"stale_instances", &RetentionReport::stale_instances},
};

// Removes what was old enough when it began, until `stop` returns true or the lock is lost. On a server that ends
// instances faster than it can remove them, it would otherwise never return. A kind that fails does not keep the others
// from being removed; the answer is then the first error. ErrorCode::invalid if `audit` is set and the engine has no
// AuditArchive.
Result<RetentionReport> run_retention(EngineCore& core, const RetentionPolicy& policy,
                                      const std::function<bool()>& stop = {});

// Runs retention at the start and then after each `every`, on its own thread.
class RetentionLoop {
 public:
  // `core` must outlive it.
  RetentionLoop(EngineCore& core, RetentionPolicy policy, std::chrono::milliseconds every);
  ~RetentionLoop();

  void start();
  void stop();

 private:
  void run();

  EngineCore& core_;
  RetentionPolicy policy_;
  std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace cairn
