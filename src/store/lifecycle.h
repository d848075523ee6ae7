// Writes the life cycle of instances, tasks and runs as outbox events, the same on every back end. The functions are
// pure: they map what is committed to its event rows. Every event about an instance has the instance id as its subject,
// so its events keep their order. A run without an instance uses its own id.
#pragma once

#include <optional>
#include <vector>

#include "store/store.h"

namespace cairn {

// An event to write. If `published`, it is only for readers of the table.
struct OutboxEntry {
  OutboxEvent event;
  bool published = false;
  bool operator==(const OutboxEntry&) const = default;
};

// The code of the failure of an instance whose definition does not exist.
inline constexpr const char* definition_missing = "definition_missing";
// Whether an operator must know of it: the instance failed, or it was suspended with an error.
bool is_incident(const Advance& advance);

// The events of `emit` steps and those that the policy adds, in order: started first, an end last.
std::vector<OutboxEntry> events_of(const Advance& advance, const EventPolicy& policy);
// The event of a run's end. It precedes the events of its instance. `instance` is empty for a standalone run.
std::optional<OutboxEntry> event_of(const RunEnd& end, const InstanceId& instance, const EventPolicy& policy);
// The event of a run that was cancelled on its own; `row` is the row before.
std::optional<OutboxEntry> event_of_cancel(const RunRow& row, const EventPolicy& policy);
// The event of a task that was assigned, released or reassigned; `row` is the row after the change.
std::optional<OutboxEntry> event_of(const TaskChange& change, const TaskRow& row, const EventPolicy& policy);
// The events of an instance that was parked because the engine cannot process it.
std::vector<OutboxEntry> events_of_parking(const InstanceId& id, const Failure& why, Timestamp at,
                                           const EventPolicy& policy);

// Incidents. An engine adds the first two to a unit (Unit::incidents), and a store writes them if the policy wants
// them. A store writes the last one with every dead letter.
OutboxEvent exhausted_event(const RunRow& run, const Failure& failure);
OutboxEvent lease_lost_event(const RunRow& run, std::uint64_t lost_fence, const std::string& worker);
std::optional<OutboxEntry> entry_of(const OutboxEvent& incident, const EventPolicy& policy);
InstanceId instance_of(const OutboxEvent& incident);  // or an empty id
std::optional<OutboxEntry> event_of(const DeadLetter& letter, Timestamp at, const EventPolicy& policy);

// The event and the dead letter of a kept signal whose time to live is over. The event is always written: an accepted
// signal is never lost silently.
OutboxEntry event_of_expiry(const KeptSignal& signal, Timestamp at, const EventPolicy& policy);
DeadLetter letter_of_expiry(const KeptSignal& signal);

// The instance of the unit's run, or an empty id.
InstanceId instance_of_run(const Unit& unit);

}  // namespace cairn
