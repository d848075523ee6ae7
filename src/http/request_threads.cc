#include "http/request_threads.h"

#include <sys/resource.h>

#include <exception>

#include "base/log.h"

namespace cairn::http {

RequestThreads::RequestThreads(std::size_t threads, int niceness, std::size_t queued_max) : queued_max_(queued_max) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, niceness](const std::stop_token& stop) {
      // On Linux this affects only the calling thread.
      if (niceness > 0) static_cast<void>(setpriority(PRIO_PROCESS, 0, niceness));
      work(stop);
    });
  }
}

RequestThreads::~RequestThreads() {
  for (std::jthread& thread : threads_) thread.request_stop();
  ready_.notify_all();
}

bool RequestThreads::submit(std::function<void()> job) {
  {
    const std::scoped_lock lock(mutex_);
    if (jobs_.size() >= queued_max_) return false;
    jobs_.push_back(std::move(job));
    if (!call_one()) return true;
  }
  ready_.notify_one();
  return true;
}

// Wakes one thread at a time. It takes a job and wakes the next, unless running threads have taken all jobs. Waking a
// thread for every job costs more than most jobs.
bool RequestThreads::call_one() {
  if (called_ || asleep_ == 0 || jobs_.empty()) return false;
  called_ = true;
  return true;
}

std::size_t RequestThreads::waiting() const {
  const std::scoped_lock lock(mutex_);
  return jobs_.size();
}

void RequestThreads::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (jobs_.empty()) {
      ++asleep_;
      ready_.wait(lock, stop, [this] { return called_; });
      --asleep_;
      called_ = false;
      if (jobs_.empty()) {  // another thread took the job, or the pool is stopping
        if (stop.stop_requested()) return;
        continue;
      }
    }
    std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    const bool call = call_one();
    lock.unlock();
    if (call) ready_.notify_one();
    try {
      job();
    } catch (const std::exception& failure) {
      log_error("http.request_failed", {{"message", failure.what()}});
    } catch (...) {
      log_error("http.request_failed", {{"message", "an exception that is not a std::exception was thrown"}});
    }
    job = nullptr;  // release its resources before waiting for the next one
    lock.lock();
  }
}

}  // namespace cairn::http
