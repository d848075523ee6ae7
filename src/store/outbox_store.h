// The outbox: which events commits write, and their delivery to sinks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/rows.h"
#include "store/store_base.h"

namespace cairn {

struct OutboxClaim {
  std::string sink;
  std::size_t max = 256;
  Duration hold;
};

// How many of the claimed events may be retries.
inline std::size_t outbox_retries_max(const OutboxClaim& claim) { return std::max<std::size_t>(1, claim.max / 4); }

struct OutboxFilter {
  std::int64_t after = 0;  // only events with a greater sequence
  std::string type_prefix;
  std::string subject;
  std::optional<InstanceId> instance;
  bool unpublished = false;  // only these
};

// The life-cycle events that commits write to the outbox, in addition to `emit` steps (store/lifecycle.h).
struct EventPolicy {
  bool instances = false;
  bool tasks = false;
  bool runs = false;
  bool dispatched = true;  // false: no sink wants them, so they are written as published
  bool incidents = false;  // what an operator must know, also instances that are suspended or fail
  bool any() const { return instances || tasks || runs || incidents; }
  bool operator==(const EventPolicy&) const = default;
};

// Up to where the outbox is complete.
struct SettledOutbox {
  std::int64_t up_to = std::numeric_limits<std::int64_t>::max();  // no further event appears up to this sequence
  std::optional<Timestamp> open_since;  // when the oldest transaction began that may still add events
};

class OutboxStore : public virtual StoreBase {
 public:
  // Set it once, before the first commit. Without it only `emit` writes events.
  virtual void keep_events(const EventPolicy& policy) { events_ = policy; }
  const EventPolicy& kept_events() const { return events_; }

  // Each sink has its own queue, which preserves the order of events of one subject. No sink waits for another.
  // `claim_outbox` first adds new events to the queues of all `sinks` that want them. Then it claims events for one
  // sink. It claims an event only if every earlier event of its subject in this queue is done or claimed by the same
  // call. At most a quarter of `max` are retries, so that failed events do not crowd out new ones. A claimed event is
  // not handed out again until `hold` has passed or its result is recorded.
  virtual Result<std::vector<OutboxRow>> claim_outbox(std::span<const SinkFilter> sinks, const OutboxClaim& claim) = 0;
  // The names of all sinks that have a queue, including sinks that are no longer configured.
  virtual Result<std::vector<std::string>> list_sink_queues() = 0;
  // Extends the claims of these events to `hold` from now.
  virtual Result<void> hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration hold) = 0;
  // Ends claims and writes the delivery log in one transaction. An event is published when no queue holds it any more.
  // Answers how many events were published.
  virtual Result<std::size_t> record_sink_results(const std::string& sink, std::span<const SinkResult> events) = 0;
  // Ordered by sequence. Sequences grow, but a commit that started earlier may become visible later.
  virtual Result<Page<OutboxRow>> list_outbox(const OutboxFilter& filter, const PageRequest& page) = 0;
  // Commits of a shared store may become visible in another order than their sequences. Read rows after the answer, not
  // before. A store that commits in the order of sequences is always complete.
  virtual Result<SettledOutbox> settled_outbox() { return SettledOutbox{}; }
  virtual Result<std::vector<SinkDelivery>> list_deliveries(std::int64_t sequence) = 0;
  // Publishes the event again, to every sink. The delivery log gets an entry without a sink; deliveries before it no
  // longer count. False if the event does not exist.
  virtual Result<bool> resend_outbox(std::int64_t sequence) = 0;

 protected:
  EventPolicy events_;
};

}  // namespace cairn
