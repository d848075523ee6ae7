// Runs one action on many instances and reports progress. Jobs run one at a time on one thread and are kept in memory
// only. Each item is a separate commit, so after a crash the same request can simply be sent again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/core.h"

namespace cairn::api {

class BulkJobs {
 public:
  static constexpr std::size_t items_max = 100'000;   // per job
  static constexpr std::size_t failures_max = 1'000;  // listed individually; further failures are only counted

  using Action = std::function<Result<void>(const InstanceId&)>;

  struct Failed {
    InstanceId instance;
    std::string error;
  };
  struct Progress {
    std::string id;
    std::string action;
    std::size_t total = 0;
    std::size_t done = 0;
    std::size_t failed = 0;
    std::vector<Failed> failures;  // the first failures
    bool finished = false;
  };

  // A caller waits at most `patience` for progress. Jobs wait for each other, and proxies cut requests that are silent.
  static constexpr std::chrono::seconds default_patience{20};
  // `jobs_max`: how many jobs are kept in memory.
  explicit BulkJobs(std::chrono::milliseconds patience = default_patience,
                    std::size_t jobs_max = Limits().bulk_jobs_max)
      : patience_(patience), jobs_max_(jobs_max) {}
  std::int64_t jobs_max() const { return static_cast<std::int64_t>(jobs_max_); }
  ~BulkJobs();

  // Empty if too many jobs wait.
  std::optional<std::string> submit(std::string id, std::string name, std::vector<InstanceId> instances, Action action);
  std::optional<Progress> find(const std::string& id) const;
  // Calls `done` once, when more than `after` items are through, the job is finished, or the caller has waited long
  // enough: now, or later from another thread. Not for every item of a large job: each hundredth of it. False: there is
  // no such job.
  bool tell(const std::string& id, std::size_t after, Done<const Progress&> done);
  // Answers all waiters with the current progress, and later ones at once: the server drains.
  void stop_waiting();

 private:
  struct Job {
    std::string id;
    std::vector<InstanceId> instances;
    Action action;
  };
  struct Waiter {
    std::size_t after = 0;
    Done<const Progress&> done;
    std::chrono::steady_clock::time_point until;
  };
  void run(const std::stop_token& stop);
  void end_waits(const std::stop_token& stop);
  // Takes the waiters whose condition is met out of the list.
  std::vector<Done<const Progress&>> due(const Progress& progress);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Progress> progress_;
  std::multimap<std::string, Waiter> waiters_;
  std::deque<std::string> order_;
  std::deque<Job> jobs_;
  bool nobody_waits_ = false;
  const std::chrono::milliseconds patience_;
  const std::size_t jobs_max_;
  std::condition_variable_any waiter_came_;
  std::jthread thread_;        // begins with the first job
  std::jthread waits_thread_;  // begins with the first waiter
};

}  // namespace cairn::api
