#include "store/postgres/commit/optimistic_commit.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory_resource>

#include "store/postgres/wire/row_reading.h"
#include "store/projection.h"

namespace cairn::postgres {

namespace {

// Whether the unit depends only on facts that its own writes check. A message that goes without an advance may make the
// instance take another signal.
bool says_everything(const Unit& unit) {
  return !(unit.message && unit.advances.empty()) && !unit.key && !unit.inbox && !unit.task && unit.messages.empty() &&
         unit.signals.empty() && std::all_of(unit.advances.begin(), unit.advances.end(), [](const Advance& advance) {
           return advance.outcome != Advance::Outcome::stale && advance.tasks_closed.empty() &&
                  advance.runs_cancelled.empty();
         });
}

}  // namespace

bool OptimisticCommit::make(std::span<const Unit> units, InstanceNumbers& memory, const KnownLeases& leases,
                            CommitImage& image) {
  if (!std::all_of(units.begin(), units.end(), says_everything)) return false;
  // The unit that changes each instance. A unit that continues from another unit is written the careful way.
  std::array<std::byte, 4096> room;
  std::pmr::monotonic_buffer_resource near_by(room.data(), room.size());
  std::pmr::map<std::string_view, const Unit*> changed_by(&near_by);
  std::size_t starts = 0;
  for (const Unit& unit : units) {
    for (const Advance& advance : unit.advances) {
      const std::string& id = advance.after.instance.value;
      for (const Wait& wait : advance.waits_opened) {
        if (wait.kind == WaitKind::signal) locks_.add_wait(wait.name, key_text(wait.key));
      }
      for (const Wait& wait : advance.after.waits) {
        if (wait.kind == WaitKind::signal) wait_names_.insert(wait.name);
      }
      no_run_types_ |= !advance.runs.empty();
      const auto [changed, first] = changed_by.try_emplace(id, &unit);
      if (!first && changed->second != &unit) return false;
      if (!first) continue;
      if (advance.from_state_version == 0) {
        ++starts;
        continue;
      }
      const Timestamp started_at = whole_ms(advance.after.started_at);
      const auto number = memory.number_of(id, started_at);
      if (!number) return false;
      image.instances[id] = {*number, advance.from_state_version, started_at, false};
    }
    if (unit.message) image.messages.insert(*unit.message);
    if (unit.timer) {
      if (!image.instances.contains(unit.timer->instance.value)) return false;
      image.timers.emplace(unit.timer->due, unit.timer->instance.value, unit.timer->token.value);
    }
    if (unit.run) {
      no_run_types_ = true;
      const auto attempt = leases.attempt_of(run_uuid(unit.run->run), unit.run->fence);
      if (!attempt) return false;
      // The type matters only if it has limits.
      image.runs[unit.run->run.value] = {RunStatus::leased, unit.run->fence, *attempt, ""};
    }
  }
  if (no_run_types_ && memory.has_run_types()) return false;
  if (starts > 0) {
    image.numbers = memory.take_numbers(starts);
    std::reverse(image.numbers.begin(), image.numbers.end());
    if (image.numbers.empty()) return false;
  }
  return true;
}

void OptimisticCommit::send_checks(Timestamp now) const {
  if (!locks_.empty()) locks_.send();
  // After the locks, because a statement sees what was committed before it started.
  if (!wait_names_.empty()) {
    Column<std::string> names;
    for (const std::string& name : wait_names_) names.add(name);
    db_.send(Sql::none_kept, names, now);
  }
  if (no_run_types_) db_.send(Sql::no_run_types);
}

}  // namespace cairn::postgres
