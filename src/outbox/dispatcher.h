// Publishes the outbox. Each sink has a lane: a queue in the store, a host lock and a thread of its own, so that one
// sink that hangs or fails keeps nothing from the others. Of all nodes one serves a sink at a time. Events of one
// subject keep their order: one that fails holds back the later ones of its subject in this lane, and comes again after
// a delay that grows. A sink that takes nothing at all is left alone for a while (`breaker_after`), and its events do
// not use up their attempts meanwhile. At least once: a crash between taking and marking delivers again, and receivers
// tell by source and id.
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
#include "store/store.h"

namespace cairn {

struct DispatcherOptions {
  std::string owner = "node";  // unique for each process
  std::size_t batch_max = 256;
  // Both are extended while a batch is under way. A node that died with them is waited for so long.
  Duration lock = Duration::of_seconds(15);
  // Of a claimed event: longer than the lock, so that nobody has it too early.
  Duration hold = Duration::of_seconds(20);
  Duration backoff = Duration::of_seconds(1);  // doubled with each try
  Duration cap = Duration::of_seconds(300);
  int attempts_max = 100;  // then it becomes a dead letter and its subject goes on
  // So many batches in a row of which nothing was taken: the sink is left alone for a second, doubled up to
  // `breaker_cap`, and then tried with a single event.
  int breaker_after = 3;
  Duration breaker_cap = Duration::of_seconds(60);
  // Events for a sink that the settings do not name any more are given up at this age. Other nodes may still have it.
  Duration orphans_after = Duration::of_seconds(86'400);
};

// What was done for one sink, or for all of them.
struct DispatchRound {
  std::size_t claimed = 0;
  std::size_t published = 0;
  bool locked_out = false;  // another node serves it
};

// One sink and its queue.
class DispatchLane {
 public:
  // `store` outlives it. `sinks` are all that the settings name.
  DispatchLane(Store& store, std::shared_ptr<const std::vector<SinkFilter>> sinks, std::unique_ptr<Sink> sink,
               const DispatcherOptions& options);
  ~DispatchLane();

  void start();
  // Sends nothing more and finishes the batch under way; `wait` returns when that is done.
  void stop();
  bool wait(std::chrono::milliseconds grace);
  void look();
  // One batch, in the calling thread.
  Result<DispatchRound> dispatch();

 private:
  Result<bool> has_work();
  Result<void> give_up_orphans();
  void run();
  bool is_open(Timestamp now) const { return open_until_ && *open_until_ > now; }
  // What the sink said, for the store. Counts towards the breaker.
  std::vector<SinkResult> judge(const std::vector<OutboxRow>& events, const std::vector<SinkAnswer>& answers);
  Result<void> bury(const std::vector<OutboxRow>& events, const std::vector<SinkResult>& settled);
  Duration delay_after(std::int64_t sequence, int attempt) const;

  Store& store_;
  const std::shared_ptr<const std::vector<SinkFilter>> sinks_;  // shared by all lanes
  const std::unique_ptr<Sink> sink_;
  const DispatcherOptions options_;
  const std::string lock_name_;
  // Only the dispatching thread uses these.
  std::optional<HostLock> lock_;
  std::optional<Timestamp> orphans_seen_;
  int failures_ = 0;                     // batches in a row of which nothing was taken
  std::optional<Timestamp> open_until_;  // the breaker: nothing is sent before

  std::mutex mutex_;
  std::condition_variable changed_;
  bool looked_ = true;  // once at the beginning
  bool stopping_ = false;
  bool ended_ = true;
  std::jthread thread_;
};

class Dispatcher {
 public:
  using Round = DispatchRound;

  // `store` outlives it.
  Dispatcher(Store& store, std::vector<std::unique_ptr<Sink>> sinks, DispatcherOptions options);

  void start();
  // Finishes the batches under way. False: a sink has not answered within `grace`.
  bool stop(std::chrono::milliseconds grace);
  // There may be something: a commit wrote events, or a delay is over. Does not block.
  void look();
  // One batch for each sink, in the calling thread, for programs without threads of the engine's and for tests.
  Result<Round> dispatch();

 private:
  std::vector<std::unique_ptr<DispatchLane>> lanes_;
};

}  // namespace cairn
