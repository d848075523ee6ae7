// Workers inside this process: handlers for types of runs, on a fixed number of threads. Each run is
// leased, kept alive while its handler works, and reported.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "coordinator/coordinator.h"

namespace cairn {

// What a handler made of a run: its result, or why there is none.
struct HandlerAnswer {
  Json result;
  std::optional<Failure> failure;
  bool retry = true;
  std::optional<Duration> retry_after;
};
using RunHandler = std::function<HandlerAnswer(const RunRow&)>;

class WorkerPool {
 public:
  WorkerPool(Coordinator& coordinator, std::size_t threads, Duration lease);
  ~WorkerPool();

  // Before `start`. A handler may be called from several threads at once.
  void handle(const std::string& type, RunHandler handler);
  void start();
  // Waits for handlers that are at work; gives back what has not begun.
  void stop();
  // Runs may be waiting.
  void look();

 private:
  void work();
  void keep_alive();
  void execute(const RunRow& run);
  std::vector<std::string> types() const;

  Coordinator& coordinator_;
  std::size_t thread_count_;
  Duration lease_;
  std::map<std::string, RunHandler> handlers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable pulse_;
  std::deque<RunRow> ready_;
  std::map<std::string, RunRow> active_;
  bool look_ = true;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
  std::jthread pulse_thread_;
};

}  // namespace cairn
