// Lists the open waits of a run as rule R2 defines.
#include <algorithm>

#include "scenario/rehearsal.h"

namespace cairn {
namespace {

Json to_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

void describe_task(const TaskOpened& row, Json& entry) {
  entry.set("name", row.name);
  entry.set("title", row.title);
  entry.set("roles", to_list(row.roles));
  entry.set("exclude", to_list(row.exclude));
  entry.set("payload", row.payload);
}

}  // namespace

Json Rehearsal::waits() const {
  Json list = Json::array();
  list_waits(root(), list);
  return list;
}

void Rehearsal::list_waits(const Instance& instance, Json& into) const {
  for (const Wait& wait : instance.snapshot.waits) {
    Json entry = Json::object({{"kind", to_string(wait.kind)}, {"step", wait.step}, {"token", wait.token.value}});
    const Instance* child = nullptr;
    switch (wait.kind) {
      case WaitKind::task: {
        const auto task = std::find_if(open_tasks_.begin(), open_tasks_.end(),
                                       [&](const OpenTask& open) { return open.row.id.value == wait.target; });
        if (task != open_tasks_.end()) describe_task(task->row, entry);
        break;
      }
      case WaitKind::timer:
        if (wait.until) entry.set("until", format_timestamp(*wait.until));
        break;
      case WaitKind::signal:
        entry.set("name", wait.name);
        entry.set("key", wait.key);
        break;
      case WaitKind::subworkflow:
        entry.set("name", wait.name);
        entry.set("instance_id", wait.target);
        child = find({wait.target});
        break;
      case WaitKind::run: {
        entry.set("name", wait.name);
        const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const PendingRun& pending) {
          return pending.intent.id.value == wait.target;
        });
        if (run != runs_.end() && run->again_at) {
          entry.set("kind", "retry");
          entry.set("until", format_timestamp(*run->again_at));
          entry.set("attempt", run->attempt);
        }
        break;
      }
    }
    into.push_back(std::move(entry));
    // The recursion is bounded: children nest no deeper than the number of started instances.
    if (child) list_waits(*child, into);
  }
}

}  // namespace cairn
