#include "coordinator/worker_pool.h"

#include "base/log.h"

namespace cairn {

WorkerPool::WorkerPool(Coordinator& coordinator, std::size_t threads, Duration lease)
    : coordinator_(coordinator), thread_count_(threads), lease_(lease) {}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::handle(const std::string& type, RunHandler handler) { handlers_[type] = std::move(handler); }

std::vector<std::string> WorkerPool::types() const {
  std::vector<std::string> list;
  for (const auto& [type, handler] : handlers_) list.push_back(type);
  return list;
}

void WorkerPool::start() {
  if (handlers_.empty()) return;
  coordinator_.lease_here(types(), lease_, [this](RunRow run) {
    const std::lock_guard lock(mutex_);
    active_[run.id.value] = run;
    ready_.push_back(std::move(run));
    changed_.notify_one();
    pulse_.notify_one();
  });
  for (std::size_t i = 0; i < thread_count_; ++i) threads_.emplace_back([this] { work(); });
  pulse_thread_ = std::jthread([this] { keep_alive(); });
}

void WorkerPool::stop() {
  std::deque<RunRow> unbegun;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    unbegun.swap(ready_);
  }
  changed_.notify_all();
  pulse_.notify_all();
  threads_.clear();
  if (pulse_thread_.joinable()) pulse_thread_.join();
  for (const RunRow& run : unbegun) {
    RunChange release;
    release.kind = RunChange::Kind::release;
    release.run = run.id;
    release.fence = run.fence;
    release.actor = coordinator_.node();
    if (auto done = coordinator_.store().change_run(release); !done) log_error("runs.release", done.error());
  }
}

void WorkerPool::look() {
  if (handlers_.empty()) return;
  const std::lock_guard lock(mutex_);
  look_ = true;
  changed_.notify_one();
}

void WorkerPool::work() {
  for (;;) {
    std::optional<RunRow> run;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || look_ || !ready_.empty(); });
      if (stopping_) return;
      if (!ready_.empty()) {
        run = std::move(ready_.front());
        ready_.pop_front();
      } else {
        look_ = false;
      }
    }
    if (!run) {
      LeaseRequest request;
      request.worker = coordinator_.node();
      request.types = types();
      request.max = thread_count_;
      request.length = lease_;
      auto leased = coordinator_.store().lease_runs(request);
      if (!leased) {
        log_error("runs.lease", leased.error());
        continue;
      }
      const std::lock_guard lock(mutex_);
      if (leased->size() == request.max) look_ = true;  // there may be more
      for (RunRow& row : *leased) {
        active_[row.id.value] = row;
        ready_.push_back(std::move(row));
      }
      changed_.notify_all();
      pulse_.notify_one();
      continue;
    }
    execute(*run);
    const std::lock_guard lock(mutex_);
    active_.erase(run->id.value);
  }
}

void WorkerPool::execute(const RunRow& run) {
  HandlerAnswer answer;
  const auto handler = handlers_.find(run.type);
  if (handler == handlers_.end()) {
    answer.failure =
        Failure{FailureClass::transport, "no_handler_registered", "no handler for " + run.type, Json(), 1, "", ""};
  } else {
    try {
      answer = handler->second(run);
    } catch (const std::exception& thrown) {
      answer.failure = Failure{FailureClass::transport, "handler_threw", thrown.what(), Json(), 1, "", ""};
    }
  }
  if (answer.failure && answer.failure->step.empty()) answer.failure->step = run.step;
  RunReport report{run.id,       run.fence,          std::move(answer.result), std::move(answer.failure),
                   answer.retry, answer.retry_after, coordinator_.node()};
  auto told = coordinator_.report(report);
  if (!told) {
    log_error("runs.report", told.error(), {{"run", run.id.value}});
  } else if (*told == RunAnswer::lease_lost) {
    log_warning("runs.lease_lost", {{"run", run.id.value}, {"type", run.type}});
  }
}

void WorkerPool::keep_alive() {
  const std::chrono::milliseconds beat(std::max<std::int64_t>(1, lease_.ms_up() / 3));
  for (;;) {
    std::vector<RunRow> runs;
    {
      std::unique_lock lock(mutex_);
      pulse_.wait(lock, [this] { return stopping_ || !active_.empty(); });
      if (stopping_ && active_.empty()) return;
      pulse_.wait_for(lock, beat, [this] { return stopping_; });
      if (stopping_ && active_.empty()) return;
      for (const auto& [id, run] : active_) runs.push_back(run);
      if (stopping_) return;
    }
    for (const RunRow& run : runs) {
      RunChange change;
      change.kind = RunChange::Kind::heartbeat;
      change.run = run.id;
      change.fence = run.fence;
      change.length = lease_;
      change.actor = coordinator_.node();
      if (auto done = coordinator_.store().change_run(change); !done) log_error("runs.heartbeat", done.error());
    }
  }
}

}  // namespace cairn
