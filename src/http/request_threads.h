// Threads on which requests may wait for the disk, separate from the connection threads. Concurrent commits share one
// transaction.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cairn::http {

class RequestThreads {
 public:
  static constexpr std::size_t threads_usual = 32;
  static constexpr std::size_t queued_usual = 10'000;

  // With `niceness` above 0 the threads run at a lower priority. At most `queued_max` jobs wait for a thread.
  explicit RequestThreads(std::size_t threads = threads_usual, int niceness = 0, std::size_t queued_max = queued_usual);
  ~RequestThreads();
  RequestThreads(const RequestThreads&) = delete;
  RequestThreads& operator=(const RequestThreads&) = delete;

  // Returns false if the queue is full.
  bool submit(std::function<void()> job);
  std::size_t waiting() const;
  std::int64_t queued_max() const { return static_cast<std::int64_t>(queued_max_); }

 private:
  void work(const std::stop_token& stop);
  bool call_one();  // requires the mutex; if true, notify after releasing it

  const std::size_t queued_max_;
  mutable std::mutex mutex_;
  std::condition_variable_any ready_;
  std::size_t asleep_ = 0;
  bool called_ = false;  // a thread has been notified and has not woken up yet
  std::deque<std::function<void()>> jobs_;
  std::vector<std::jthread> threads_;
};

}  // namespace cairn::http
