#include "coordinator/deferred_work.h"

namespace cairn {

DeferredWork::~DeferredWork() { stop(); }

void DeferredWork::post(Task task) {
  if (!has_threads_) return task();
  std::unique_lock lock(mutex_);
  tasks_.push_back(std::move(task));
  if (!stopped_) {
    if (stopping_) changed_.notify_all();  // `stop` waits there too
    if (idle_ > 0) {
      changed_.notify_one();
    } else if (threads_.size() < threads_max && (threads_.empty() || tasks_.size() > 1)) {
      threads_.emplace_back([this] { run(); });
    }
    return;
  }
  // One after the other and not inside each other: each may post the next.
  if (draining_) return;
  draining_ = true;
  while (!tasks_.empty()) do_first(lock);
  draining_ = false;
}

void DeferredWork::do_first(std::unique_lock<std::mutex>& lock) {
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  ++running_;
  lock.unlock();
  task();
  task = nullptr;  // what it holds may post too
  lock.lock();
  --running_;
}

void DeferredWork::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    changed_.wait(lock, [this] { return !tasks_.empty() || (stopping_ && running_ == 0); });
    --idle_;
    if (tasks_.empty()) return;
    do_first(lock);
    if (stopping_ && tasks_.empty() && running_ == 0) changed_.notify_all();
  }
}

void DeferredWork::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  std::vector<std::jthread> threads;
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty() && running_ == 0; });
    stopped_ = true;
    threads.swap(threads_);
    changed_.notify_all();
  }
}

}  // namespace cairn
