#include "server/bulk_jobs.h"

namespace cairn::server {

BulkJobs::~BulkJobs() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

std::optional<std::string> BulkJobs::submit(std::string id, std::string name, std::vector<InstanceId> instances,
                                            Action action) {
  const std::scoped_lock lock(mutex_);
  if (jobs_.size() >= jobs_max) return std::nullopt;
  while (order_.size() >= jobs_max && progress_[order_.front()].finished) {
    progress_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(id);
  progress_[id] = {id, std::move(name), instances.size(), {}, false};
  jobs_.push_back({id, std::move(instances), std::move(action)});
  if (!thread_.joinable()) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  changed_.notify_one();
  return id;
}

std::optional<BulkJobs::Progress> BulkJobs::find(const std::string& id) const {
  const std::scoped_lock lock(mutex_);
  const auto found = progress_.find(id);
  if (found == progress_.end()) return std::nullopt;
  return found->second;
}

void BulkJobs::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    for (const InstanceId& instance : job.instances) {
      if (stop.stop_requested()) return;
      lock.unlock();
      const auto done = job.action(instance);
      lock.lock();
      progress_[job.id].items.push_back({instance, done ? "" : done.error().message});
    }
    progress_[job.id].finished = true;
  }
}

}  // namespace cairn::server
