// Work that follows from a commit and needs the store. The threads of the commit queue must not call a store
// (store_calls.h), so they post such work here, and the threads of this class do it. These threads start when they are
// needed. Safe from several threads.
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
  static constexpr std::size_t threads_max = 4;  // unless the constructor says otherwise

  using Task = std::function<void()>;

  // Without threads, `post` runs the task at once.
  explicit DeferredWork(bool has_threads, std::size_t threads = threads_max)
      : has_threads_(has_threads), threads_max_(threads) {}
  ~DeferredWork();
  DeferredWork(const DeferredWork&) = delete;
  DeferredWork& operator=(const DeferredWork&) = delete;

  // Tasks begin in the order in which they were posted. A task may post others.
  void post(Task task);
  // Returns when all tasks are done, including those that they posted. After that, `post` runs the task itself.
  void stop();

 private:
  void run();
  void do_first(std::unique_lock<std::mutex>& lock);

  const bool has_threads_;
  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable finished_;
  std::deque<Task> tasks_;
  std::size_t idle_ = 0;
  std::size_t running_ = 0;
  bool stopped_ = false;
  bool draining_ = false;  // after `stop`: a `post` is running tasks
  std::vector<std::jthread> threads_;
};

}  // namespace cairn
