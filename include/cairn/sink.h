// The destination of events that a program implements (Engine::add_sink). One dispatcher calls a sink, from one thread
// at a time. For a plain function there is Engine::subscribe.
#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "store/outbox_rows.h"

namespace cairn {

struct SinkAnswer {
  enum class Kind { taken, failed, not_tried };
  Kind kind = Kind::not_tried;
  std::string error;                    // for failed deliveries
  std::optional<Duration> retry_after;  // requested by the receiver
};

class Sink {
 public:
  // With `types`, the sink receives only events whose type begins with one of them.
  Sink(std::string name, std::vector<std::string> types) : filter_{std::move(name), std::move(types)} {}
  virtual ~Sink() = default;

  const std::string& name() const { return filter_.name; }
  const SinkFilter& filter() const { return filter_; }

  // Delivers the events and keeps the order within each subject: after a failure it does not try the later events of
  // that subject. Blocks until all results are known; returns one answer per event, in the same order.
  virtual std::vector<SinkAnswer> deliver(std::span<const OutboxRow> events) = 0;
  // Callable from another thread. The sink sends nothing more, waits for the requests already sent and skips the rest.
  void stop() { stopping_ = true; }
  // Callable from another thread, after `stop`. The sink no longer waits for requests already sent: they fail. Sinks of
  // the shared HTTP client do nothing here, because stopping the client ends their requests.
  virtual void abandon() {}

 protected:
  bool stopping() const { return stopping_; }

 private:
  SinkFilter filter_;
  std::atomic<bool> stopping_ = false;
};

// The event as CloudEvents 1.0. `source` names the installation: `source` of EngineOptions::events, "/cairn" by
// default. Source and id together are unique. The extension `sequence` is the position in the outbox, `instance` the
// instance that emitted the event, `traceparent` its trace.
Json cloud_event(const OutboxRow& row, const std::string& source);

}  // namespace cairn
