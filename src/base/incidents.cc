#include "base/incidents.h"

#include <map>
#include <mutex>
#include <tuple>

namespace cairn {
namespace {

using IncidentKey = std::tuple<Incident::Kind, std::string, std::string, std::string>;
struct IncidentCounts {
  std::mutex mutex;
  std::map<IncidentKey, std::uint64_t> by_label;
};

IncidentCounts& counted_incidents() {
  // Never destroyed: threads may report incidents while the process exits.
  static auto* instance = new IncidentCounts;
  return *instance;
}

const char* log_event(Incident::Kind kind) {
  switch (kind) {
    case Incident::Kind::instance_suspended: return "instance.suspended";
    case Incident::Kind::instance_failed: return "instance.failed";
    case Incident::Kind::attempts_exhausted: return "run.attempts_exhausted";
    case Incident::Kind::dead_letter: return "dead_letter.created";
    case Incident::Kind::lease_lost: return "run.lease_lost";
    case Incident::Kind::definition_unavailable: return "definition.unavailable";
  }
  return "";
}

void count_incident(const Incident& incident) {
  IncidentCounts& counts = counted_incidents();
  const std::scoped_lock lock(counts.mutex);
  IncidentKey key{incident.kind, incident.definition, incident.step, incident.type};
  const auto found = counts.by_label.find(key);
  if (found != counts.by_label.end()) {
    ++found->second;
  } else if (counts.by_label.size() < incident_labels_max) {
    counts.by_label.emplace(std::move(key), 1);
  } else {
    ++counts.by_label[{incident.kind, "other", "other", "other"}];
  }
}

}  // namespace

const char* to_string(Incident::Kind kind) {
  switch (kind) {
    case Incident::Kind::instance_suspended: return "instance_suspended";
    case Incident::Kind::instance_failed: return "instance_failed";
    case Incident::Kind::attempts_exhausted: return "attempts_exhausted";
    case Incident::Kind::dead_letter: return "dead_letter";
    case Incident::Kind::lease_lost: return "lease_lost";
    case Incident::Kind::definition_unavailable: return "definition_unavailable";
  }
  return "";
}

void report_incident(const Incident& incident, LogFields fields) {
  count_incident(incident);
  if (!incident.definition.empty()) fields.emplace_back("definition", incident.definition);
  if (!incident.step.empty()) fields.emplace_back("step", incident.step);
  if (!incident.type.empty()) fields.emplace_back("type", incident.type);
  log_warning(log_event(incident.kind), fields);
}

std::vector<IncidentCount> incident_counts() {
  IncidentCounts& counts = counted_incidents();
  const std::scoped_lock lock(counts.mutex);
  std::vector<IncidentCount> list;
  for (const auto& [key, count] : counts.by_label) {
    const auto& [kind, definition, step, type] = key;
    list.push_back({{kind, definition, step, type}, count});
  }
  return list;
}

}  // namespace cairn
