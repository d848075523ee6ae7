#include "server/request_threads.h"

#include <exception>

#include "base/log.h"

namespace cairn::server {

RequestThreads::RequestThreads() {
  for (std::size_t i = 0; i < threads_count; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

RequestThreads::~RequestThreads() {
  for (std::jthread& thread : threads_) thread.request_stop();
  ready_.notify_all();
}

bool RequestThreads::submit(std::function<void()> job) {
  const std::scoped_lock lock(mutex_);
  if (jobs_.size() >= queued_max) return false;
  jobs_.push_back(std::move(job));
  ready_.notify_one();
  return true;
}

std::size_t RequestThreads::waiting() const {
  const std::scoped_lock lock(mutex_);
  return jobs_.size();
}

void RequestThreads::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (ready_.wait(lock, stop, [this] { return !jobs_.empty(); })) {
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    try {
      job();
    } catch (const std::exception& failure) {
      log_error("http.request_failed", {{"message", failure.what()}});
    }
    job = nullptr;  // what it holds must not wait for the next one
    lock.lock();
  }
}

}  // namespace cairn::server
