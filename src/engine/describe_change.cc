#include "engine/describe_change.h"

namespace cairn {

void describe_change(const EventBody& what, const Snapshot& before, Unit& unit) {
  const bool by_operator =
      std::holds_alternative<CancelRequested>(what) || std::holds_alternative<SuspendRequested>(what) ||
      std::holds_alternative<ResumeRequested>(what) || std::holds_alternative<RetryRequested>(what) ||
      std::holds_alternative<SkipRequested>(what) || std::holds_alternative<StateEdited>(what) ||
      std::holds_alternative<TaskExpired>(what);
  if (!by_operator || unit.advances.empty()) return;
  const Advance& first = unit.advances.front();
  const auto about = [](const Snapshot& snapshot) {
    return Json::object(
        {{"status", to_string(snapshot.status)}, {"state_version", static_cast<std::int64_t>(snapshot.state_version)}});
  };
  for (AuditRow& row : unit.audit) {
    if (!row.details.is_object()) row.details = Json::object();
    row.details.set("old", about(before));
    row.details.set("new", about(first.after));
    for (const LogEntry& entry : first.log) {
      const bool edited = entry.kind == LogEntry::Kind::edited || entry.kind == LogEntry::Kind::skipped;
      if (const Json* changed = entry.details.find("changed"); edited && changed) row.details.set("changed", *changed);
    }
  }
}

}  // namespace cairn
