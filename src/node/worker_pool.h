// Workers inside this process: handlers for types of runs, of which a fixed number is at work at once, and transports,
// which run many calls at once. Each run is leased, kept alive while it is worked on, and reported; what
// finishes while a commit is running goes into the next one together. A result that the store cannot take now is
// kept, with its lease, and reported again. One that the store will not take is reported as a failed attempt.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/core.h"
#include "transport/transport.h"

namespace cairn::node {

// The outcome of a handler: a result or a failure.
struct HandlerAnswer {
  Json result;
  std::optional<Failure> failure;
  bool retry = true;
  std::optional<Duration> retry_after;
};
// `stop` is requested if the run was cancelled or its lease was lost: the result will not be used.
using RunHandler = std::function<HandlerAnswer(const RunRow&, const std::stop_token& stop)>;

// How often and how fast a result that the store did not take is reported again.
struct ReportPatience {
  std::chrono::milliseconds pause_min{100};  // then twice as long each time that the store takes none
  std::chrono::milliseconds pause_max{5000};
  int refusals_max = 10;  // by a store that can be reached; an outage does not count
};

class WorkerPool {
 public:
  static constexpr std::size_t calls_max = 256;  // of all transports together

  WorkerPool(EngineCore& core, std::size_t threads, Duration lease, ReportPatience patience = {});
  ~WorkerPool();

  // Call before `start`. Several threads may call a handler at once.
  void handle(const std::string& type, RunHandler handler);
  // Call before `start`. `transport` must outlive the pool's `stop`.
  void carry(Transport& transport);
  void start();
  // New runs begin pending from now on, and what has not begun is given back. Waits for handlers that are at work and,
  // for `grace`, for calls and for a store that does not take results; these are reported once more at the end. A call
  // that has no answer by then was perhaps carried out: its attempt has failed.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(5));
  // Call after `stop` and after the engine has stopped. Releases runs that the last commits still leased.
  void give_back_late();
  // Tells that runs may be ready.
  void look();

 private:
  struct Active {
    std::uint64_t fence = 0;
    Duration lease;  // the lease as granted: the type may define its own
    std::chrono::steady_clock::time_point beat_at;
    std::stop_source stop{std::nostopstate};  // has a state after the run has started or was stopped before
    bool called = false;                      // sent to a transport and not answered
  };
  using Run = std::unique_ptr<RunRow>;  // ownership moves several times
  struct Begun {
    Run run;
    std::stop_token stop;
  };
  struct Finished {
    Run run;
    HandlerAnswer answer;
    bool reported = false;  // without success: of the run only id and fence are left
    int refusals = 0;       // by a store that could be reached
    bool replaced = false;  // the answer is the failure that the store's refusal made of it
  };

  void work();
  void keep_alive();
  void beat(std::span<const RunChange> beats);
  // These require the mutex, passed as `lock`, and release it while they work.
  void report(std::unique_lock<std::mutex>& lock);
  void execute(std::unique_lock<std::mutex>& lock);
  void begin_calls(std::unique_lock<std::mutex>& lock);
  void give_back_unbegun(std::unique_lock<std::mutex>& lock);
  void fail_unanswered(std::unique_lock<std::mutex>& lock);
  void call(std::unique_lock<std::mutex>& lock, const RunRow& run, Transport& transport);
  void lease(std::unique_lock<std::mutex>& lock);
  void take(std::vector<RunRow> runs);
  void finish(Run run, HandlerAnswer answer);
  // Decides about a result that the store did not take: true if it is reported again, perhaps as a failure.
  bool reports_again(Finished& finished, const Error& refused) const;
  // What the store did not take is reported again. Under the mutex.
  void keep_result(Finished finished);
  void report_kept();
  HandlerAnswer answer_to(const RunRow& run, const std::stop_token& stop) const;
  // How many runs a thread takes at once.
  std::size_t together() const;
  // How many runs to hold: few if handlers are slow, so that other nodes get their share.
  std::size_t wanted() const;
  // How many runs one request leases: half, so that the next ones arrive while these run.
  std::size_t share() const;
  bool may_lease_for_handlers() const;
  bool may_lease() const;
  bool may_report() const;
  bool may_execute() const;
  bool may_call() const { return !stopping_ && !ready_calls_.empty(); }
  bool has_unbegun() const { return !ready_.empty() || !ready_calls_.empty(); }
  std::vector<std::string> types() const;

  EngineCore& core_;
  std::size_t thread_count_;
  Duration lease_;
  ReportPatience patience_;
  std::map<std::string, RunHandler> handlers_;
  std::map<std::string, Transport*> transports_;  // by type of run

  std::mutex mutex_;
  std::condition_variable changed_;
  std::condition_variable pulse_;
  std::condition_variable idle_;  // for stopping
  std::deque<Run> ready_;         // for handlers
  std::deque<Run> ready_calls_;   // for transports, which need none of the threads of handlers
  std::deque<Finished> finished_;
  std::vector<Finished> kept_;  // until the store may take them
  std::chrono::milliseconds report_pause_{0};
  std::optional<std::chrono::steady_clock::time_point> report_again_at_;
  std::unordered_map<std::string, Active> active_;  // by run
  std::size_t calls_ = 0;
  double handler_ms_ = 1000;   // a moving average; pessimistic before the first one
  bool timed_ = false;         // at least one handler was measured
  std::size_t executing_ = 0;  // running handlers
  std::size_t reporting_ = 0;
  std::size_t being_reported_ = 0;  // results in these reports
  bool look_for_handlers_ = false;
  bool look_for_calls_ = false;
  std::size_t leasing_ = 0;     // lease requests for handlers in progress
  std::size_t asked_ = 0;       // how many runs they may return
  bool leasing_calls_ = false;  // the same for transports
  bool backlog_ = false;        // the last request returned as many as requested, so there are more
  bool sooner_ = false;         // a run arrived whose heartbeat is due first, or a lease request failed
  std::optional<std::chrono::steady_clock::time_point> ask_again_at_;  // a lease request failed
  std::chrono::steady_clock::time_point next_beat_ = std::chrono::steady_clock::time_point::max();
  bool stopping_ = false;  // nothing new starts
  bool closing_ = false;   // calls are no longer awaited
  bool closed_ = false;    // all threads have ended
  std::vector<std::jthread> threads_;
  std::jthread pulse_thread_;
};

}  // namespace cairn::node
