#include "engine/run_incidents.h"

#include "base/incidents.h"
#include "store/lease_holder.h"
#include "store/lifecycle.h"

namespace cairn {

namespace {

// How `last_error` begins if the engine has ended an attempt that took too long (call_timeout).
constexpr std::string_view timed_out = "call_timeout";

}  // namespace

DeadLetter letter_of(const RunRow& run, const Failure& failure, const std::string& node) {
  DeadLetter letter;
  letter.instance = run.instance;
  letter.kind = "run";
  letter.envelope = Json::object({{"run", run.id.value}, {"type", run.type}, {"payload", run.payload}});
  letter.reason = failure.code + ": " + failure.message;
  letter.node = node;
  return letter;
}

void RunIncidents::exhausted(const RunRow& run, const Failure& failure) {
  LogFields fields{
      {"run", run.id.value}, {"attempts", run.attempt}, {"code", failure.code}, {"message", failure.message}};
  if (run.instance) fields.emplace_back("instance", run.instance->value);
  report_incident({Incident::Kind::attempts_exhausted, "", run.step, run.type}, std::move(fields));
}

bool RunIncidents::is_new(const std::string& lease) {
  const std::lock_guard lock(mutex_);
  if (!told_.insert(lease).second) return false;
  order_.push_back(lease);
  if (order_.size() > remembered_max) {
    told_.erase(order_.front());
    order_.pop_front();
  }
  return true;
}

void RunIncidents::lease_lost(const RunRow& row, std::uint64_t fence, const std::string& worker) {
  const bool another_has_it = row.fence > fence;
  // A run is also back in the queue after its worker has reported a failure or released it, and the worker's next
  // heartbeat or its repeated report is no incident.
  const bool overdue = row.status == RunStatus::pending && row.fence == fence && row.last_error.starts_with(timed_out);
  if (fence == 0 || (!another_has_it && !overdue)) return;
  if (!is_new(row.id.value + "/" + std::to_string(fence))) return;
  // The label is optional in a report of one run.
  const LeaseHolder holder = LeaseHolder::parse(worker);
  const std::string& label = holder.label.empty() ? holder.person : holder.label;
  LogFields fields{{"run", row.id.value}, {"worker", label}, {"status", to_string(row.status)}};
  if (row.instance) fields.emplace_back("instance", row.instance->value);
  report_incident({Incident::Kind::lease_lost, "", row.step, row.type}, std::move(fields));
  if (!context_.store.kept_events().incidents) return;
  Unit unit;
  unit.incidents = {lease_lost_event(row, fence, label)};
  unit.actor = context_.node;
  queue_.submit(std::move(unit), [](const Result<CommitOutcome>& written, const Unit&) {
    if (!written) log_error("incident.event_failed", written.error());
  });
}

}  // namespace cairn
