// Reports what an operator must know: an instance was suspended or failed, a run used up its attempts, an item became a
// dead letter, a worker lost its lease, a definition is missing. Each report writes one log line and counts. The counts
// are process-wide, like the log, because incidents happen in every layer. Safe from several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"

namespace cairn {

struct Incident {
  enum class Kind {
    instance_suspended,
    instance_failed,
    attempts_exhausted,
    dead_letter,
    lease_lost,
    definition_unavailable,
  };
  Kind kind = Kind::instance_suspended;
  // Each is empty if it is unknown or does not apply. They are the labels of the metric, so they are never ids.
  std::string definition = {};
  std::string step = {};
  std::string type = {};  // of a run, or the kind of a dead letter
};
const char* to_string(Incident::Kind kind);

// Writes a log line with the labels and `fields` (ids, the reason), and counts. The event is the kind with a dot:
// instance.suspended.
void report_incident(const Incident& incident, LogFields fields = {});

struct IncidentCount {
  Incident incident;
  std::uint64_t count = 0;
};
// Different labels that are counted separately. Further ones share one count with the labels "other".
inline constexpr std::size_t incident_labels_max = 500;
// Incidents since the process started.
std::vector<IncidentCount> incident_counts();

}  // namespace cairn
