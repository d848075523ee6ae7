#include "node/worker_pool.h"

#include <algorithm>
#include <atomic>

#include "base/log.h"
#include "instance/carried_trace.h"
#include "node/foreign_call.h"

namespace cairn::node {

namespace {

// Large batches of short jobs cost the store less: half this size drained 8 % fewer jobs.
constexpr std::size_t reports_max = 1000;
constexpr std::size_t leased_max = 4000;
// The pool leases as much ahead as the threads finish in this time.
constexpr double ahead_ms = 50;
// Concurrent reports. A third would find little to report: runs that finish meanwhile belong to the next report.
constexpr std::size_t reporting_max = 2;
// Concurrent lease requests while each returns as many as requested: one waits for the disk while the store works on
// the other.
constexpr std::size_t leasing_max = 2;
// Delay after a failed lease request. No other notification would repeat it.
constexpr std::chrono::milliseconds ask_again_after{500};
// Handlers that take no longer are called several at a time: giving each to a thread costs more than they do.
constexpr double quick_ms = 0.05;
constexpr std::size_t together_max = 32;
// A report waits for other handlers that take at most this long: a commit for each would cost more.
constexpr double company_ms = 5;

TransportCall call_of(const RunRow& run) {
  TransportCall call;
  call.run = run.id;
  call.instance = run.instance;
  Carried carried = without_trace(run.payload);
  call.request = std::move(carried.value);
  call.trace = std::move(carried.traceparent);
  call.idempotency_key = run.idempotency_key;
  call.attempt = run.attempt;
  if (run.timeout) call.timeout = *run.timeout;
  return call;
}

// A call that a transport executes.
struct Open {
  std::unique_ptr<RunRow> run;
  std::atomic<bool> answered = false;
};

// A third of the lease: two heartbeats may be lost. Very long leases get a heartbeat every few hours.
std::chrono::milliseconds between_beats(Duration lease) {
  constexpr std::int64_t beat_ms_max = 8 * 3'600'000;
  return std::chrono::milliseconds(std::clamp<std::int64_t>(lease.ms_up() / 3, 1, beat_ms_max));
}

// After a failed heartbeat. Several tries fit into the rest of the lease.
std::chrono::milliseconds before_next_try(Duration lease) {
  return std::min(between_beats(lease) / 6 + std::chrono::milliseconds(1), std::chrono::milliseconds(1000));
}

}  // namespace

WorkerPool::WorkerPool(EngineCore& core, std::size_t threads, Duration lease, ReportPatience patience)
    : core_(core), thread_count_(threads), lease_(lease), patience_(patience) {}

WorkerPool::~WorkerPool() {
  stop();
  core_.leasing().lease_here({}, lease_, {});
}

void WorkerPool::handle(const std::string& type, RunHandler handler) { handlers_[type] = std::move(handler); }

void WorkerPool::carry(Transport& transport) { transports_[run_type_of(transport.name())] = &transport; }

std::vector<std::string> WorkerPool::types() const {
  std::vector<std::string> list;
  for (const auto& [type, handler] : handlers_) list.push_back(type);
  for (const auto& [type, transport] : transports_) list.push_back(type);
  return list;
}

void WorkerPool::start() {
  if (handlers_.empty() && transports_.empty()) return;
  core_.leasing().lease_here(types(), lease_, [this](RunRow run) { take({std::move(run)}); });
  // Extra threads wait for the store, so that the next run does not wait for a commit.
  const std::size_t count = thread_count_ + leasing_max + reporting_max;
  for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  pulse_thread_ = std::jthread([this] { keep_alive(); });
  look();  // work that arrived before the start
}

void WorkerPool::take(std::vector<RunRow> runs) {
  const Timestamp now = core_.store().now();
  const auto taken_at = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  for (RunRow& run : runs) {
    Active active;
    active.fence = run.fence;
    active.lease = run.lease_until ? between(run.updated_at, *run.lease_until) : lease_;
    // A part of the lease may be over already. The first heartbeat renews all of it.
    const Duration left = run.lease_until ? between(now, *run.lease_until) : lease_;
    active.beat_at = taken_at + between_beats(std::min(active.lease, left));
    sooner_ |= active.beat_at < next_beat_;
    active_.insert_or_assign(run.id.value, std::move(active));
    auto& ready = transports_.contains(run.type) ? ready_calls_ : ready_;
    ready.push_back(std::make_unique<RunRow>(std::move(run)));
  }
  if (may_call()) changed_.notify_one();
  // Wake one thread per run, and no more than may start: waking all of them for one run would cost more than most runs.
  for (std::size_t i = executing_; i < std::min(thread_count_, executing_ + runs.size()); ++i) changed_.notify_one();
  if (stopping_) changed_.notify_all();  // to release them
  if (sooner_) pulse_.notify_one();
}

void WorkerPool::stop(std::chrono::milliseconds grace) {
  if (threads_.empty()) return;
  core_.leasing().stop_leasing_here();
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    report_kept();
    changed_.notify_all();
    // The threads continue to report and to release until this is over.
    idle_.wait_for(lock, grace,
                   [this] { return calls_ == 0 && finished_.empty() && kept_.empty() && reporting_ == 0; });
    closing_ = true;
    report_kept();
    fail_unanswered(lock);
    changed_.notify_all();
  }
  threads_.clear();
  // Handlers have kept their leases until now.
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    active_.clear();
    pulse_.notify_all();
  }
  pulse_thread_.join();
}

void WorkerPool::give_back_late() {
  std::unique_lock lock(mutex_);
  give_back_unbegun(lock);
}

void WorkerPool::fail_unanswered(std::unique_lock<std::mutex>& lock) {
  std::vector<RunReport> reports;
  for (const auto& [id, active] : active_) {
    if (!active.called) continue;
    RunReport& report = reports.emplace_back();
    report.run = {id};
    report.fence = active.fence;
    report.failure =
        Failure{FailureClass::transport, "interrupted", "the node stopped before the answer", Json(), 1, "", ""};
    report.worker = core_.node();
  }
  // Later answers are ignored.
  for (const RunReport& report : reports) active_.erase(report.run.value);
  if (reports.empty()) return;
  lock.unlock();
  const auto answers = core_.reports().report_all(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!answers[i]) log_error("runs.report", answers[i].error(), {{"run", reports[i].run.value}});
  }
  lock.lock();
}

void WorkerPool::look() {
  if (handlers_.empty() && transports_.empty()) return;
  const std::lock_guard lock(mutex_);
  look_for_handlers_ = !handlers_.empty();
  look_for_calls_ = !transports_.empty();
  changed_.notify_one();
}

std::size_t WorkerPool::wanted() const {
  const double ahead = static_cast<double>(thread_count_) * ahead_ms / std::max(handler_ms_, 0.01);
  return std::clamp(static_cast<std::size_t>(ahead), thread_count_, leased_max);
}

std::size_t WorkerPool::share() const { return std::max(thread_count_, wanted() / 2); }

bool WorkerPool::may_lease_for_handlers() const {
  if (!look_for_handlers_ || leasing_ >= (backlog_ ? leasing_max : 1)) return false;
  // The duration of the first handlers determines how many runs to request.
  if (!timed_ && ready_.size() + executing_ >= thread_count_) return false;
  // Leave runs that could not start soon to other nodes.
  if (executing_ >= thread_count_ && handler_ms_ >= company_ms) return false;
  // Fetch the next runs while there is still work.
  const std::size_t coming = ready_.size() + asked_;
  return coming <= share() && coming < wanted();
}

bool WorkerPool::may_lease() const {
  // All results that have not been taken: those that are kept go back and forth between the three.
  if (stopping_ || kept_.size() + finished_.size() + being_reported_ >= leased_max) return false;
  return may_lease_for_handlers() || (look_for_calls_ && !leasing_calls_ && calls_ < calls_max / 2);
}

bool WorkerPool::may_report() const {
  if (finished_.empty() || reporting_ >= reporting_max) return false;
  const bool alone = ready_.empty() || finished_.size() >= reports_max;
  return alone || static_cast<double>(finished_.size()) * handler_ms_ >= company_ms;
}

bool WorkerPool::may_execute() const { return !stopping_ && !ready_.empty() && executing_ < thread_count_; }

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] {
      return closing_ || (stopping_ && has_unbegun()) || may_report() || may_call() || may_execute() || may_lease();
    });
    if (stopping_) give_back_unbegun(lock);
    if (may_report()) {
      report(lock);
    } else if (may_call()) {
      begin_calls(lock);
    } else if (may_lease()) {
      lease(lock);
    } else if (may_execute()) {
      execute(lock);
    } else if (closing_ && !has_unbegun()) {
      // The thread that still works reports them.
      return;
    }
  }
}

void WorkerPool::lease(std::unique_lock<std::mutex>& lock) {
  // One request each, and only for those with room. The other `look` stays pending.
  const bool for_handlers = may_lease_for_handlers();
  LeaseRequest request;
  request.worker = core_.node();
  request.length = lease_;
  if (for_handlers) {
    for (const auto& [type, handler] : handlers_) request.types.push_back(type);
    request.max = std::min(share(), wanted() - ready_.size() - asked_);
    look_for_handlers_ = backlog_;
    ++leasing_;
    asked_ += request.max;
  } else {
    for (const auto& [type, transport] : transports_) request.types.push_back(type);
    request.max = calls_max - calls_;
    look_for_calls_ = false;
    leasing_calls_ = true;
  }
  if (may_execute()) changed_.notify_one();
  lock.unlock();
  auto leased = core_.store().lease_runs(request);
  if (!leased) log_error("runs.lease", leased.error());
  const bool more = leased && leased->size() == request.max;
  if (leased && !leased->empty()) {
    core_.counts().add_leased(*leased);
    take(std::move(*leased));
  }
  lock.lock();
  if (!leased) {
    ask_again_at_ = std::chrono::steady_clock::now() + ask_again_after;
    sooner_ = true;
    pulse_.notify_one();
  }
  if (for_handlers) {
    --leasing_;
    asked_ -= request.max;
    backlog_ = more;
    look_for_handlers_ |= more;
  } else {
    leasing_calls_ = false;
    look_for_calls_ |= more;
  }
  give_back_unbegun(lock);
  changed_.notify_all();
}

void WorkerPool::give_back_unbegun(std::unique_lock<std::mutex>& lock) {
  // These runs will not start here. Release many at once: one transaction each would take minutes.
  while (stopping_ && has_unbegun()) {
    std::vector<RunChange> changes;
    while (has_unbegun() && changes.size() < reports_max) {
      auto& ready = ready_.empty() ? ready_calls_ : ready_;
      RunChange& change = changes.emplace_back();
      change.kind = RunChange::Kind::release;
      change.run = ready.front()->id;
      change.fence = ready.front()->fence;
      change.actor = core_.node();
      active_.erase(change.run.value);
      ready.pop_front();
    }
    lock.unlock();
    for (const auto& done : core_.store().change_runs(changes)) {
      if (!done) log_error("runs.release", done.error());
    }
    lock.lock();
  }
}

std::size_t WorkerPool::together() const {
  if (!timed_ || handler_ms_ > quick_ms) return 1;
  return std::clamp<std::size_t>(ready_.size() / thread_count_, 1, together_max);
}

void WorkerPool::execute(std::unique_lock<std::mutex>& lock) {
  std::vector<Begun> begun;
  begun.reserve(together());
  for (std::size_t left = together(); left > 0 && !ready_.empty() && !stopping_; --left) {
    Run run = std::move(ready_.front());
    ready_.pop_front();
    const auto active = active_.find(run->id.value);
    if (active == active_.end() || active->second.fence != run->fence) continue;  // lost while it waited
    if (!active->second.stop.stop_possible()) active->second.stop = std::stop_source();
    begun.push_back({std::move(run), active->second.stop.get_token()});
  }
  if (begun.empty()) return;
  ++executing_;
  std::optional<double> mean_ms;
  if (timed_) mean_ms = handler_ms_;
  lock.unlock();
  std::vector<Finished> finished;
  finished.reserve(begun.size());
  auto began = std::chrono::steady_clock::now();
  for (Begun& one : begun) {
    HandlerAnswer answer = answer_to(*one.run, one.stop);
    finished.push_back({std::move(one.run), std::move(answer)});
    const auto ended = std::chrono::steady_clock::now();
    const double took_ms = std::chrono::duration<double, std::milli>(ended - std::exchange(began, ended)).count();
    mean_ms = mean_ms ? *mean_ms * 0.9 + took_ms * 0.1 : took_ms;
    // Not short after all: report now instead of waiting for the next handler.
    if (took_ms > company_ms) break;
  }
  lock.lock();
  --executing_;
  for (std::size_t i = begun.size(); i > finished.size(); --i) ready_.push_front(std::move(begun[i - 1].run));
  handler_ms_ = *mean_ms;
  timed_ = true;
  std::move(finished.begin(), finished.end(), std::back_inserter(finished_));
  give_back_unbegun(lock);
  if (may_report()) changed_.notify_one();
}

void WorkerPool::begin_calls(std::unique_lock<std::mutex>& lock) {
  if (may_execute()) changed_.notify_one();
  while (may_call()) {
    const Run run = std::move(ready_calls_.front());
    ready_calls_.pop_front();
    const auto active = active_.find(run->id.value);
    if (active == active_.end() || active->second.fence != run->fence) continue;  // lost while it waited
    active->second.called = true;
    call(lock, *run, *transports_.at(run->type));
  }
}

HandlerAnswer WorkerPool::answer_to(const RunRow& run, const std::stop_token& stop) const {
  HandlerAnswer answer;
  const auto handler = handlers_.find(run.type);
  if (handler == handlers_.end()) {
    answer.failure = Failure{FailureClass::transport, "no_handler_registered", "", Json(), 1, "", ""};
    return answer;
  }
  return call_foreign([&] { return handler->second(run, stop); },
                      [&](std::string message) {
                        answer.failure =
                            Failure{FailureClass::transport, "handler_threw", std::move(message), Json(), 1, "", ""};
                        return answer;
                      });
}

void WorkerPool::call(std::unique_lock<std::mutex>& lock, const RunRow& run, Transport& transport) {
  ++calls_;
  lock.unlock();
  // The first answer takes it. A second answer, or an exception after an answer, is ignored.
  const auto open = std::make_shared<Open>();
  open->run = std::make_unique<RunRow>(run);
  const auto finish_once = [this, open](HandlerAnswer answer) {
    if (!open->answered.exchange(true)) finish(std::move(open->run), std::move(answer));
  };
  call_foreign(
      [&] {
        transport.send(call_of(run), [finish_once](TransportAnswer answer) {
          finish_once({std::move(answer.result), std::move(answer.failure), answer.retry, answer.retry_after});
        });
      },
      [&](std::string message) {
        HandlerAnswer answer;
        answer.failure = Failure{FailureClass::transport, "transport_threw", std::move(message), Json(), 1, "", ""};
        finish_once(std::move(answer));
      });
  lock.lock();
}

void WorkerPool::finish(Run run, HandlerAnswer answer) {
  const std::lock_guard lock(mutex_);
  --calls_;
  if (closing_) return;  // its attempt is reported as failed
  if (const auto active = active_.find(run->id.value); active != active_.end() && active->second.fence == run->fence) {
    active->second.called = false;
  }
  finished_.push_back({std::move(run), std::move(answer)});
  changed_.notify_all();
}

bool WorkerPool::reports_again(Finished& finished, const Error& refused) const {
  if (refused.code == ErrorCode::unavailable) return true;  // only an outage passes for sure
  // The run is not ours any more.
  if (refused.code == ErrorCode::not_found || refused.code == ErrorCode::not_allowed) return false;
  const bool may_pass = may_report_again(refused);
  if (may_pass && ++finished.refusals < patience_.refusals_max) return true;
  if (std::exchange(finished.replaced, true)) return false;  // its lease ends by itself
  finished.refusals = 0;
  finished.answer = {};
  finished.answer.failure = Failure{FailureClass::transport,
                                    "report_refused",
                                    "the store did not take the result: " + refused.message,
                                    Json(),
                                    1,
                                    "",
                                    ""};
  finished.answer.retry = may_pass;
  return true;
}

void WorkerPool::keep_result(Finished finished) {
  if (closing_) {
    // Once more, and at once. Its lease ends by itself otherwise: what was executed is not given back.
    if (!std::exchange(finished.reported, true)) finished_.push_back(std::move(finished));
    return;
  }
  finished.reported = true;
  kept_.push_back(std::move(finished));
  if (report_again_at_) return;
  report_pause_ = std::clamp(report_pause_ * 2, patience_.pause_min, patience_.pause_max);
  report_again_at_ = std::chrono::steady_clock::now() + report_pause_;
  sooner_ = true;
  pulse_.notify_one();
}

void WorkerPool::report_kept() {
  report_again_at_.reset();
  std::move(kept_.begin(), kept_.end(), std::back_inserter(finished_));
  kept_.clear();
}

void WorkerPool::report(std::unique_lock<std::mutex>& lock) {
  std::vector<Finished> finished;
  finished.reserve(std::min(finished_.size(), reports_max));
  while (!finished_.empty() && finished.size() < reports_max) {
    finished.push_back(std::move(finished_.front()));
    finished_.pop_front();
  }
  ++reporting_;
  being_reported_ += finished.size();
  if (may_execute()) changed_.notify_one();
  lock.unlock();
  std::vector<RunReport> reports;
  reports.reserve(finished.size());
  for (Finished& one : finished) {
    // The answer is copied: it is reported again when the store cannot take it now.
    reports.push_back({one.run->id,
                       one.run->fence,
                       one.answer.result,
                       one.answer.failure,
                       one.answer.retry,
                       one.answer.retry_after,
                       core_.node(),
                       {},
                       one.reported ? std::nullopt : std::optional<RunRow>(std::move(*one.run))});
  }
  const auto answers = core_.reports().report_all(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!answers[i]) log_error("runs.report", answers[i].error(), {{"run", reports[i].run.value}});
  }
  lock.lock();
  --reporting_;
  being_reported_ -= finished.size();
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const RunReport& one = reports[i];
    if (answers[i]) {
      report_pause_ = {};
    } else if (reports_again(finished[i], answers[i].error())) {
      finished[i].run->id = one.run;
      finished[i].run->fence = one.fence;
      keep_result(std::move(finished[i]));
      continue;
    }
    const auto active = active_.find(one.run.value);
    // The next attempt may have arrived here before this answer.
    if (active != active_.end() && active->second.fence == one.fence) active_.erase(active);
  }
  changed_.notify_all();
  if (stopping_) idle_.notify_all();
}

void WorkerPool::keep_alive() {
  std::unique_lock lock(mutex_);
  for (;;) {
    auto next = std::chrono::steady_clock::time_point::max();
    for (const auto& [id, active] : active_) next = std::min(next, active.beat_at);
    if (ask_again_at_) next = std::min(next, *ask_again_at_);
    if (report_again_at_) next = std::min(next, *report_again_at_);
    next_beat_ = next;
    // A new run may have a shorter lease than all others, so it ends the wait.
    const auto woken = [this] { return closed_ || sooner_; };
    if (next == std::chrono::steady_clock::time_point::max()) {
      pulse_.wait(lock, woken);
    } else {
      pulse_.wait_until(lock, next, woken);
    }
    if (closed_) return;
    sooner_ = false;
    const auto now = std::chrono::steady_clock::now();
    if (ask_again_at_ && *ask_again_at_ <= now) {
      ask_again_at_.reset();
      look_for_handlers_ = !handlers_.empty();
      look_for_calls_ = !transports_.empty();
      changed_.notify_one();
    }
    if (report_again_at_ && *report_again_at_ <= now) {
      report_kept();
      changed_.notify_one();
    }
    std::vector<RunChange> beats;
    for (auto& [id, active] : active_) {
      if (active.beat_at > now) continue;
      active.beat_at = now + between_beats(active.lease);
      RunChange& beat = beats.emplace_back();
      beat.kind = RunChange::Kind::heartbeat;
      beat.run = {id};
      beat.fence = active.fence;
      beat.length = active.lease;
      beat.actor = core_.node();
    }
    lock.unlock();
    for (std::size_t begin = 0; begin < beats.size(); begin += reports_max) {
      beat(std::span(beats).subspan(begin, std::min(reports_max, beats.size() - begin)));
    }
    lock.lock();
  }
}

void WorkerPool::beat(std::span<const RunChange> beats) {
  const auto answers = core_.store().change_runs(beats);
  std::vector<std::stop_source> stopped;
  const Error* failed = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < beats.size(); ++i) {
      if (answers[i] && answers[i]->kind == RunChanged::Kind::done) continue;
      const auto active = active_.find(beats[i].run.value);
      if (active == active_.end() || active->second.fence != beats[i].fence) continue;
      if (!answers[i]) {
        failed = &answers[i].error();
        active->second.beat_at = now + before_next_try(beats[i].length);
        continue;
      }
      // Cancelled or lost: its result will not be used.
      if (!active->second.stop.stop_possible()) active->second.stop = std::stop_source();
      stopped.push_back(active->second.stop);
    }
  }
  if (failed != nullptr) log_error("runs.heartbeat", *failed);
  for (std::size_t i = 0; i < beats.size(); ++i) {
    if (!answers[i] || answers[i]->kind != RunChanged::Kind::lease_lost) continue;
    core_.reports().incidents().lease_lost(answers[i]->row, beats[i].fence, beats[i].actor);
  }
  for (std::stop_source& stop : stopped) stop.request_stop();  // callbacks run outside the lock
}

}  // namespace cairn::node
