// Runs one action on many instances and reports progress. The selection is frozen in the store before the first action,
// so a job survives a restart: another server continues it. Jobs run one at a time on one thread. Each action has the
// job as its idempotency key, so an action that is repeated after a crash changes nothing twice.
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
  // Further ones are forgotten, the oldest first.
  static constexpr std::size_t finished_max = 100, previews_max = 20;

  // What to do with one instance. `order` is what `submit` was given.
  using Action = std::function<Result<void>(const Json& order, const InstanceId& instance)>;

  enum class State { preview, running, paused, cancelled, finished };

  struct Failed {
    InstanceId instance;
    std::string error;
  };
  struct Progress {
    std::string id;
    Json order;
    State state = State::running;
    std::size_t total = 0;
    std::size_t done = 0;
    std::size_t failed = 0;
    std::vector<Failed> failures;  // the first failures
    Timestamp created_at;
    bool is_over() const { return state == State::finished || state == State::cancelled; }
    std::size_t position() const { return done + failed; }
  };

  // A caller waits at most `patience` for progress. Jobs wait for each other, and proxies cut requests that are silent.
  static constexpr std::chrono::seconds default_patience{20};
  // `store` must outlive it. `node` names this server. `jobs_max`: how many jobs wait for earlier ones.
  BulkJobs(Store& store, std::string node, Action action, std::chrono::milliseconds patience = default_patience,
           std::size_t jobs_max = Limits().bulk_jobs_max);
  std::int64_t jobs_max() const { return static_cast<std::int64_t>(jobs_max_); }
  ~BulkJobs();

  // Freezes the selection. With `State::preview` the job waits for `resume`. Empty if too many jobs wait.
  Result<std::optional<std::string>> submit(Json order, const std::vector<InstanceId>& instances, State state);
  // ErrorCode::conflict if the job is over; not_found if there is none.
  Result<void> resume(const std::string& id);
  // Begins a preview. A reason that is not empty becomes the job's.
  Result<void> start(const std::string& id, const std::string& reason);
  Result<void> pause(const std::string& id);
  Result<void> cancel(const std::string& id);

  Result<std::optional<Progress>> find(const std::string& id) const;
  // The newest first.
  Result<std::vector<Progress>> list() const;
  // Instances of the job from number `from` on, in the order of the actions.
  Result<std::vector<InstanceId>> items(const Progress& job, std::size_t from, std::size_t max) const;

  // Calls `done` once, when more than `after` items are through, the job does not run, or the caller has waited long
  // enough: now, or later from another thread. Not for every item of a large job: each hundredth of it. False: there is
  // no such job.
  Result<bool> tell(const std::string& id, std::size_t after, Done<const Progress&> done);
  // Continues the jobs that servers left: now, and from now on those of other servers of the store. Only for servers.
  void serve();
  // Answers all waiters with the current progress, and later ones at once: the server drains.
  void stop_waiting();

 private:
  struct Waiter {
    std::size_t after = 0;
    Done<const Progress&> done;
    std::chrono::steady_clock::time_point until;
  };
  void enqueue(const std::string& id);
  void run(const std::stop_token& stop);
  void run_job(const std::string& id, const std::stop_token& stop);
  // Acts on one instance, several times if the store is not available.
  std::optional<Result<void>> act(const Progress& job, const InstanceId& instance, const std::stop_token& stop);
  // Stores the progress. Empty: another caller changed the job's state; `job` has it.
  Result<bool> keep(Progress& job, std::uint64_t& version);
  Result<void> change(const std::string& id, State to, const std::string& reason = {});
  Result<void> forget_old();
  void look_for_left_jobs();
  void end_waits(const std::stop_token& stop);
  // The progress of a job that this server runs now, or the stored one.
  Progress current(const std::string& id) const;
  void tell_waiters(const Progress& progress, bool all);

  // Claims a job, or extends the claim, so that no other server runs it. Empty: another one has it.
  std::optional<HostLock> claim(const std::string& id);

  Store& store_;
  const bool shared_;  // other servers use the store too
  const std::string node_;
  const Action action_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<Progress> running_;  // what this server runs now
  std::multimap<std::string, Waiter> waiters_;
  std::deque<std::string> queue_;
  std::size_t submitted_ = 0;
  bool serves_ = false;
  bool waits_ended_ = false;
  const std::chrono::milliseconds patience_;
  const std::size_t jobs_max_;
  std::condition_variable_any waiter_came_;
  std::jthread thread_;        // begins with the first job
  std::jthread waits_thread_;  // begins with the first waiter
};

const char* to_string(BulkJobs::State state);

}  // namespace cairn::api
