// Publishes the outbox. On all nodes together one dispatcher works at a time, under a host lock; it claims a batch,
// hands each event to every sink that wants it, and marks what all of them took. Events of one subject keep their
// order: one that fails holds back the later ones of its subject, and comes again after a delay that grows. Every
// try stands in the log of deliveries, so that a sink which took an event does not get it again because another did
// not. At least once: a crash between taking and marking delivers again, and receivers tell by source and id.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "outbox/sink.h"
#include "store/store.h"

namespace cairn {

class BatchKeeper;

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
};

class Dispatcher {
 public:
  // `store` outlives it.
  Dispatcher(Store& store, std::vector<std::unique_ptr<Sink>> sinks, DispatcherOptions options);
  ~Dispatcher();

  void start();
  // Finishes the batch under way.
  void stop();
  // There may be something: a commit wrote events, or a delay is over. Does not block.
  void look();

  struct Round {
    std::size_t claimed = 0;
    std::size_t published = 0;
    bool locked_out = false;  // another node dispatches
  };
  // One batch, in the calling thread. The loop calls it, and so do tests.
  Result<Round> dispatch();

 private:
  struct Parcel;
  void run();
  Result<void> recall(std::vector<Parcel>& parcels);
  void offer(std::vector<Parcel>& parcels, const BatchKeeper& keeper, std::vector<Delivery>& tried);
  // `ours`: no other node can have claimed them meanwhile.
  Result<Round> settle(std::vector<Parcel>& parcels, const std::vector<Delivery>& tried, bool ours);
  Duration delay_after(std::int64_t sequence, int attempt) const;

  Store& store_;
  std::vector<std::unique_ptr<Sink>> sinks_;
  DispatcherOptions options_;
  // Only the dispatching thread uses these.
  std::optional<HostLock> lock_;
  Timestamp ours_since_;            // events older than this may have been tried by another
  std::set<std::int64_t> retried_;  // events that this one has tried and not published

  std::mutex mutex_;
  std::condition_variable changed_;
  bool looked_ = true;  // once at the beginning
  bool stopping_ = false;
  std::jthread thread_;
};

}  // namespace cairn
