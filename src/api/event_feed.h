// The outbox as a live feed: every event of the store, in order. One thread reads the outbox once for all listeners. A
// listener that reconnects with an old position first catches up page by page.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "api/http_types.h"
#include "engine/core.h"

namespace cairn::api {

class EventFeed {
 public:
  // `core` must outlive it.
  explicit EventFeed(EngineCore& core) : core_(core) {}
  ~EventFeed();
  EventFeed(const EventFeed&) = delete;
  EventFeed& operator=(const EventFeed&) = delete;

  // Sends the events that match `filter` after a position; without a position, events from now on.
  void subscribe(OutboxFilter filter, std::optional<std::int64_t> after, EventStream stream);
  std::size_t listeners() const;

 private:
  struct Listener {
    OutboxFilter filter;  // `after` is its position
    EventStream stream;
    bool live = false;  // has received everything up to the feed's own position
  };

  void begin();
  void run(const std::stop_token& stop);
  Result<std::int64_t> newest();
  // The last event before which no other event can still appear.
  Result<std::int64_t> newest_complete();
  bool may_appear_before(const OutboxRow& row, std::int64_t last) const;
  Result<void> admit(std::list<Listener> newcomers);
  // Sends one page to listeners that are behind. Returns whether any still is.
  Result<bool> catch_up();
  // Returns whether events are held back because an earlier one may still appear.
  Result<bool> read_new();

  EngineCore& core_;
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

  std::list<Listener> listeners_;  // used by the thread only
  std::int64_t position_ = 0;
  std::int64_t settled_ = 0;  // up to here no further event appears
  std::once_flag begun_;      // with the first listener
  std::shared_ptr<void> listening_;
  std::jthread thread_;
};

// One event as a server-sent event with its id. `source` as in outbox/cloud_event.h.
std::string stream_text(const OutboxRow& row, const std::string& source);

}  // namespace cairn::api
