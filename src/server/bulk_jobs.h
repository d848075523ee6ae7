// One action on many instances, with progress. Jobs run one after the other on one thread and are
// remembered in memory only: each item is a commit of its own, so a job that a crash cuts off is done by
// asking again.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/coordinator.h"

namespace cairn::server {

class BulkJobs {
 public:
  static constexpr std::size_t items_max = 1'000;
  static constexpr std::size_t jobs_max = 1'000;  // remembered ones

  using Action = std::function<Result<void>(const InstanceId&)>;

  struct Item {
    InstanceId instance;
    std::string error;  // empty: done
  };
  struct Progress {
    std::string id;
    std::string action;
    std::size_t total = 0;
    std::vector<Item> items;  // those that were tried
    bool finished = false;
  };

  ~BulkJobs();

  // Nothing when too many jobs wait already.
  std::optional<std::string> submit(std::string id, std::string name, std::vector<InstanceId> instances, Action action);
  std::optional<Progress> find(const std::string& id) const;

 private:
  struct Job {
    std::string id;
    std::vector<InstanceId> instances;
    Action action;
  };
  void run(const std::stop_token& stop);

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, Progress> progress_;
  std::deque<std::string> order_;
  std::deque<Job> jobs_;
  std::jthread thread_;  // begins with the first job
};

}  // namespace cairn::server
