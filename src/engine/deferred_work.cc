#include "engine/deferred_work.h"

namespace cairn {

DeferredWork::~DeferredWork() { stop(); }

void DeferredWork::post(Task task) {
  if (!has_threads_) return task();
  std::unique_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  waiting_ = tasks_.size();
  if (!stopped_) {
    // Idle threads take the first tasks. The others must not wait for a task that takes long.
    if (tasks_.size() <= idle_) {
      filled_.notify_one();
    } else if (threads_.size() < bounds_.threads_max) {
      threads_.emplace_back([this] { run(); });
    }
    return;
  }
  // A task may post the next one. A loop runs them one after the other, so the stack does not grow.
  if (draining_) return;
  draining_ = true;
  while (!tasks_.empty()) do_first(lock);
  draining_ = false;
}

void DeferredWork::do_first(std::unique_lock<std::mutex>& lock) {
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  waiting_ = tasks_.size();
  ++running_;
  lock.unlock();
  task();
  task = nullptr;  // its destructor may post too
  lock.lock();
  --running_;
  if (tasks_.empty() && running_ == 0) finished_.notify_all();
}

void DeferredWork::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    filled_.wait(lock, [this] { return !tasks_.empty() || stopped_; });
    --idle_;
    if (tasks_.empty()) return;
    do_first(lock);
  }
}

void DeferredWork::stop() {
  std::vector<std::jthread> threads;  // joined without the lock
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
  stopped_ = true;
  threads.swap(threads_);
  filled_.notify_all();
  lock.unlock();
}

}  // namespace cairn
