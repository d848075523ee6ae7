#include "engine/instance_incidents.h"

#include "base/incidents.h"
#include "store/lifecycle.h"

namespace cairn {

void report_incidents(const Unit& unit) {
  for (const Advance& advance : unit.advances) {
    if (advance.outcome == Advance::Outcome::stale || !is_incident(advance)) continue;
    const Snapshot& after = advance.after;
    LogFields fields{{"instance", after.instance.value}};
    std::string step;
    if (after.error) {
      step = after.error->step;
      fields.emplace_back("code", after.error->code);
      fields.emplace_back("message", after.error->message);
    }
    const bool failed = after.status == Status::failed;
    report_incident({failed ? Incident::Kind::instance_failed : Incident::Kind::instance_suspended, after.program.name,
                     std::move(step)},
                    std::move(fields));
  }
}

}  // namespace cairn
