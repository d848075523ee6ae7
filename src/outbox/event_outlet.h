// The event output of one process: the sinks of its settings, the functions that the program subscribed, and the
// dispatcher that serves them.
#pragma once

#include "outbox/dispatcher.h"
#include "outbox/sinks.h"
#include "outbox/subscriber.h"

namespace cairn {

class EventOutlet {
 public:
  // `store` must outlive the outlet; `owner` must be unique for each process. ErrorCode::invalid for inconsistent
  // settings.
  static Result<std::unique_ptr<EventOutlet>> open(OutboxStore& store, const EventSettings& settings,
                                                   EgressPolicy policy, const std::string& owner,
                                                   HttpSurroundings surroundings = {});
  ~EventOutlet();

  // Call this before the first event is published. ErrorCode::conflict if the name is taken, or if it is too late.
  Result<void> subscribe(const std::string& name, const std::vector<std::string>& types, EventHandler handler);
  // The same for a sink of the program.
  Result<void> add(std::unique_ptr<Sink> sink);
  // Does nothing without a sink.
  void start();
  // Tells the sinks to send nothing more. Does not block.
  void stop_sending();
  // Waits for events already sent, at most for `grace`, and abandons receivers that have not answered by then.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(5));
  void look();
  // Delivers everything that can be delivered now; for programs without engine threads.
  Result<std::size_t> drain();

 private:
  EventOutlet(OutboxStore& store, EventSettings settings, EgressPolicy policy, std::string owner,
              HttpSurroundings surroundings);
  Dispatcher& dispatcher();
  bool serves_any();

  OutboxStore& store_;
  EventSettings settings_;
  std::string owner_;
  HttpClient client_;
  std::vector<std::unique_ptr<Sink>> sinks_;  // until the dispatcher takes them
  std::mutex mutex_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

}  // namespace cairn
