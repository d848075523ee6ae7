#include "api/bulk_jobs.h"

#include <algorithm>

namespace cairn::api {

BulkJobs::~BulkJobs() {
  thread_.request_stop();
  waits_thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (waits_thread_.joinable()) waits_thread_.join();
}

std::optional<std::string> BulkJobs::submit(std::string id, std::string name, std::vector<InstanceId> instances,
                                            Action action) {
  const std::scoped_lock lock(mutex_);
  if (jobs_.size() >= jobs_max_) return std::nullopt;
  while (order_.size() >= jobs_max_ && progress_[order_.front()].finished) {
    progress_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(id);
  Progress& progress = progress_[id];
  progress.id = id;
  progress.action = std::move(name);
  progress.total = instances.size();
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

bool BulkJobs::tell(const std::string& id, std::size_t after, Done<const Progress&> done) {
  std::optional<Progress> now;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = progress_.find(id);
    if (found == progress_.end()) return false;
    const Progress& progress = found->second;
    const std::size_t enough = after + std::max<std::size_t>(progress.total / 100, 1) - 1;
    if (!progress.finished && !nobody_waits_ && progress.done + progress.failed <= enough) {
      waiters_.emplace(id, Waiter{enough, std::move(done), std::chrono::steady_clock::now() + patience_});
      if (!waits_thread_.joinable()) {
        waits_thread_ = std::jthread([this](const std::stop_token& stop) { end_waits(stop); });
      }
      waiter_came_.notify_one();
      return true;
    }
    now = progress;
  }
  done(*now);
  return true;
}

void BulkJobs::stop_waiting() {
  std::vector<std::pair<Done<const Progress&>, Progress>> list;
  {
    const std::scoped_lock lock(mutex_);
    nobody_waits_ = true;
    for (auto& [id, waiter] : waiters_) list.emplace_back(std::move(waiter.done), progress_[id]);
    waiters_.clear();
  }
  for (const auto& [done, progress] : list) done(progress);
}

// Answers each waiter whose time is over with the progress so far.
void BulkJobs::end_waits(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (waiter_came_.wait(lock, stop, [this] { return !waiters_.empty(); })) {
    if (stop.stop_requested()) return;
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::pair<Done<const Progress&>, Progress>> list;
    auto next = now + patience_;
    for (auto at = waiters_.begin(); at != waiters_.end();) {
      if (at->second.until > now) {
        next = std::min(next, at->second.until);
        ++at;
        continue;
      }
      list.emplace_back(std::move(at->second.done), progress_[at->first]);
      at = waiters_.erase(at);
    }
    if (list.empty()) {
      // Later waiters have later deadlines: only the end of the server is worth waking up for.
      waiter_came_.wait_until(lock, stop, next, [] { return false; });
      continue;
    }
    lock.unlock();
    for (const auto& [done, progress] : list) done(progress);
    lock.lock();
  }
}

std::vector<Done<const BulkJobs::Progress&>> BulkJobs::due(const Progress& progress) {
  std::vector<Done<const Progress&>> list;
  const auto [first, last] = waiters_.equal_range(progress.id);
  for (auto at = first; at != last;) {
    if (progress.finished || progress.done + progress.failed > at->second.after) {
      list.push_back(std::move(at->second.done));
      at = waiters_.erase(at);
    } else {
      ++at;
    }
  }
  return list;
}

void BulkJobs::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    const auto tell_those_who_wait = [&] {
      const Progress& progress = progress_[job.id];
      const std::vector<Done<const Progress&>> list = due(progress);
      if (list.empty()) return;
      const Progress copy = progress;
      lock.unlock();
      for (const auto& done : list) done(copy);
      lock.lock();
    };
    for (const InstanceId& instance : job.instances) {
      if (stop.stop_requested()) return;
      lock.unlock();
      const auto done = job.action(instance);
      lock.lock();
      Progress& progress = progress_[job.id];
      if (done) {
        ++progress.done;
      } else if (++progress.failed <= failures_max) {
        progress.failures.push_back({instance, done.error().message});
      }
      tell_those_who_wait();
    }
    progress_[job.id].finished = true;
    tell_those_who_wait();
  }
}

}  // namespace cairn::api
