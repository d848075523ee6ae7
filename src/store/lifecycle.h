// The life cycle of instances, tasks and runs as events of the outbox, the same on every back end: pure
// functions from what is committed to the rows that go with it. Everything about one instance has the
// instance's id as its subject, so that its events keep their order; a run on its own has the run's.
#pragma once

#include <optional>
#include <vector>

#include "store/store.h"

namespace cairn {

// An event as it is written: `published` ones are for readers of the table only.
struct OutboxEntry {
  OutboxEvent event;
  bool published = false;
  bool operator==(const OutboxEntry&) const = default;
};

// What `emit` asked for and what the policy adds, in order: started first, an end last.
std::vector<OutboxEntry> events_of(const Advance& advance, const EventPolicy& policy);
// The end of a run; it comes before what its instance does about it. `instance` is empty for a run on its own.
std::optional<OutboxEntry> event_of(const RunEnd& end, const InstanceId& instance, const EventPolicy& policy);
// A run that was cancelled by itself: `row` is as it was before.
std::optional<OutboxEntry> event_of_cancel(const RunRow& row, const EventPolicy& policy);
// A task that was assigned, released or reassigned: `row` is as it is after the change.
std::optional<OutboxEntry> event_of(const TaskChange& change, const TaskRow& row, const EventPolicy& policy);
// An instance that was parked because nobody can decide about it.
std::optional<OutboxEntry> event_of_parking(const InstanceId& id, const Failure& why, Timestamp at,
                                            const EventPolicy& policy);

// The instance that a unit's run belongs to, or an empty id.
InstanceId instance_of_run(const Unit& unit);

}  // namespace cairn
