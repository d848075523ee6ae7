// The outbox as a live feed: every event of the store, in order, to whoever listens. One thread reads the
// outbox once for all listeners; those that come back with an old position catch up page by page first.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/coordinator.h"
#include "http/server.h"

namespace cairn::server {

class EventFeed {
 public:
  // `coordinator` outlives it.
  explicit EventFeed(Coordinator& coordinator) : coordinator_(coordinator) {}
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Sends what matches `filter` after its position; without a position, what happens from now on.
  void subscribe(OutboxFilter filter, std::optional<std::int64_t> after, EventStream stream);
  std::size_t listeners() const;

 private:
  struct Listener {
    OutboxFilter filter;  // `after` is its position
    EventStream stream;
    bool live = false;  // has everything up to the feed's own position
  };

  void run(const std::stop_token& stop);
  Result<std::int64_t> newest();
  // The last event before which nothing can appear any more; see `late_max`.
  Result<std::int64_t> newest_complete();
  bool may_appear_before(const OutboxRow& row, std::int64_t last) const;
  Result<void> admit(std::list<Listener> newcomers);
  // One page for those who are behind; whether somebody still is.
  Result<bool> catch_up();
  // Whether something is held back because an earlier event may still appear.
  Result<bool> read_new();

  Coordinator& coordinator_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  struct Newcomer {
    OutboxFilter filter;
    std::optional<std::int64_t> after;
    EventStream stream;
  };
  std::list<Newcomer> newcomers_;
  bool look_ = false;
  std::size_t count_ = 0;

  std::list<Listener> listeners_;  // the thread's own
  std::int64_t position_ = 0;
  std::shared_ptr<void> listening_;
  std::jthread thread_;
};

// One event as a CloudEvent (JSON).
Json cloud_event(const OutboxRow& row);
// As a server-sent event with its id.
std::string stream_text(const OutboxRow& row);

}  // namespace cairn::server
