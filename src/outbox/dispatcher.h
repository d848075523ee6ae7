// src/outbox publishes the events that commits wrote to the outbox, and verifies and reads events that come in. Each
// sink has a dispatch lane: its own queue in the store, host lock and thread, so a slow or failing sink does not delay
// the others. Delivery is at least once and keeps the order of each subject. The module uses base, instance, store,
// transport and redis, but not the engine. Read `DispatchLane::dispatch` first.
//
// One node at a time serves a sink. A failed event blocks the later events of its subject in this lane and is retried
// with exponential backoff. If a sink takes nothing at all, its circuit breaker opens (`breaker_after`); the events do
// not use up their attempts meanwhile. After a crash between delivery and bookkeeping the event is sent again, and
// receivers detect that by source and id.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "outbox/sink.h"
#include "store/outbox_store.h"

namespace cairn {

struct DispatcherOptions {
  std::string owner = "node";  // unique for each process
  std::size_t batch_max = 256;
  // A running batch extends both. After a crash another node waits this long.
  Duration lock = Duration::of_seconds(15);
  // How long an event stays claimed. It is longer than the lock, so that no other node claims the event too early.
  Duration hold = Duration::of_seconds(20);
  Duration backoff = Duration::of_seconds(1);  // doubles with each attempt
  Duration cap = Duration::of_seconds(300);
  int attempts_max = 100;  // then the event becomes a dead letter, and the next one of its subject follows
  // After this many batches in a row without a delivered event, the sink pauses for one second. The pause doubles up to
  // `breaker_cap`; after each pause a single event is tried.
  int breaker_after = 3;
  Duration breaker_cap = Duration::of_seconds(60);
  // Events for a sink that the settings no longer name are dropped at this age. Other nodes may still have the sink.
  Duration orphans_after = Duration::of_seconds(86'400);
};

// The result of one round for one sink, or for all of them.
struct DispatchRound {
  std::size_t claimed = 0;
  std::size_t published = 0;
  bool locked_out = false;  // another node serves it
};

// One sink and its queue.
class DispatchLane {
 public:
  // `store` must outlive the lane. `sinks` are all sinks of the settings.
  DispatchLane(OutboxStore& store, std::shared_ptr<const std::vector<SinkFilter>> sinks, std::unique_ptr<Sink> sink,
               const DispatcherOptions& options);
  ~DispatchLane();

  void start();
  // Finishes the running batch and sends nothing more. `wait` returns when that is done.
  void stop();
  bool wait(std::chrono::milliseconds grace);
  // Ends the requests of the running batch.
  void abandon() { sink_->abandon(); }
  void look();
  // Delivers one batch in the calling thread.
  Result<DispatchRound> dispatch();

 private:
  Result<bool> has_work();
  Result<void> give_up_orphans();
  void run();
  bool is_open(Timestamp now) const { return open_until_ && *open_until_ > now; }
  // Translates the sink's answers into results for the store. Updates the breaker.
  std::vector<SinkResult> judge(const std::vector<OutboxRow>& events, const std::vector<SinkAnswer>& answers);
  Result<void> bury(const std::vector<OutboxRow>& events, const std::vector<SinkResult>& results);
  Duration delay_after(std::int64_t sequence, int attempt) const;

  OutboxStore& store_;
  const std::shared_ptr<const std::vector<SinkFilter>> sinks_;  // shared by all lanes
  const std::unique_ptr<Sink> sink_;
  const DispatcherOptions options_;
  const std::string lock_name_;
  // Used by the dispatching thread only.
  std::optional<HostLock> lock_;
  std::optional<Timestamp> orphans_seen_;
  int failures_ = 0;                     // batches in a row without a delivered event
  std::optional<Timestamp> open_until_;  // the breaker: nothing is sent before this

  std::mutex mutex_;
  std::condition_variable changed_;
  bool looked_ = true;  // true at first, so that the queue is read once at the start
  bool stopping_ = false;
  bool ended_ = true;
  std::jthread thread_;
};

class Dispatcher {
 public:
  using Round = DispatchRound;

  // `store` must outlive the dispatcher.
  Dispatcher(OutboxStore& store, std::vector<std::unique_ptr<Sink>> sinks, DispatcherOptions options);

  void start();
  // Finishes the running batches. Returns false if a sink did not answer within `grace`.
  bool stop(std::chrono::milliseconds grace);
  // Ends the requests of sinks that did not answer.
  void abandon();
  // Tells the lanes that work may exist: a commit wrote events, or a delay ended. Does not block.
  void look();
  // Delivers one batch per sink in the calling thread, for tests and for programs without engine threads.
  Result<Round> dispatch();

 private:
  std::vector<std::unique_ptr<DispatchLane>> lanes_;
};

}  // namespace cairn
