// Work that follows from a commit and needs the store. The threads of the commit queue must not call a store
// (store_calls.h), so they leave such work here, and threads of its own do it. The threads start when they are needed.
// Safe from several threads.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cairn {

class DeferredWork {
 public:
  static constexpr std::size_t threads_max = 4;

  using Task = std::function<void()>;

  // Without threads of its own a task is done at once by whoever posts it.
  explicit DeferredWork(bool has_threads) : has_threads_(has_threads) {}
  ~DeferredWork();
  DeferredWork(const DeferredWork&) = delete;
  DeferredWork& operator=(const DeferredWork&) = delete;

  // Tasks begin in the order in which they were posted. A task may post others.
  void post(Task task);
  // Returns when all tasks are done, also those that they posted. Whoever posts later does the task itself.
  void stop();

 private:
  void run();
  void do_first(std::unique_lock<std::mutex>& lock);

  const bool has_threads_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable finished_;
  std::deque<Task> tasks_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool stopped_ = false;
  bool draining_ = false;  // after the end: somebody does what is posted
  std::vector<std::jthread> threads_;
};

}  // namespace cairn
