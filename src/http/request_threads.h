// Threads on which requests may wait for the disk, beside the connections' own: what many of them commit at
// once goes into one transaction.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cairn::server {

class RequestThreads {
 public:
  static constexpr std::size_t threads_usual = 32;
  static constexpr std::size_t queued_max = 10'000;

  // With `niceness` above 0 these threads get the processor only when others leave it.
  explicit RequestThreads(std::size_t threads = threads_usual, int niceness = 0);
  ~RequestThreads();
  RequestThreads(const RequestThreads&) = delete;
  RequestThreads& operator=(const RequestThreads&) = delete;

  // False when too much waits already.
  bool submit(std::function<void()> job);
  std::size_t waiting() const;

 private:
  void work(const std::stop_token& stop);
  bool call_one();  // with the mutex; true: notify when it is released

  mutable std::mutex mutex_;
  std::condition_variable_any ready_;
  std::size_t asleep_ = 0;
  bool called_ = false;  // somebody has been woken and has not come yet
  std::deque<std::function<void()>> jobs_;
  std::vector<std::jthread> threads_;
};

}  // namespace cairn::server
