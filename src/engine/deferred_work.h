// Work on threads of the engine: what follows from a commit and needs the store, and writes for which no request thread
// waits. The threads of the commit queue must not call a store (store_calls.h), so they post such work here. A thread
// starts when a task waits and no thread is idle. Safe from several threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace cairn {

class DeferredWork {
 public:
  using Task = std::function<void()>;

  struct Bounds {
    std::size_t threads_max;
    std::size_t waiting_max;
  };

  // Without threads, `post` runs the task at once.
  DeferredWork(bool has_threads, Bounds bounds) : has_threads_(has_threads), bounds_(bounds) {}
  ~DeferredWork();
  DeferredWork(const DeferredWork&) = delete;
  DeferredWork& operator=(const DeferredWork&) = delete;

  // Tasks begin in the order in which they were posted. A task may post others.
  void post(Task task);
  // Whether `waiting_max` tasks wait. New requests must be refused then. `post` still accepts the tasks of requests
  // that were accepted before; each of them has at most one.
  bool is_full() const { return waiting_.load(std::memory_order_relaxed) >= bounds_.waiting_max; }
  // Returns when all tasks are done, including those that they posted. After that, `post` runs the task itself.
  void stop();

 private:
  void run();
  void do_first(std::unique_lock<std::mutex>& lock);

  const bool has_threads_;
  const Bounds bounds_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable finished_;
  std::deque<Task> tasks_;
  std::atomic<std::size_t> waiting_ = 0;  // the size of `tasks_`
  std::size_t idle_ = 0;                  // threads that wait for a task, also if they have been notified
  std::size_t running_ = 0;
  bool stopped_ = false;
  bool draining_ = false;  // after `stop`: a `post` is running tasks
  std::vector<std::jthread> threads_;
};

}  // namespace cairn
