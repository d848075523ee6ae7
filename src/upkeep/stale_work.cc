#include "upkeep/stale_work.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "store/audit_scope.h"
#include "upkeep/age.h"

namespace cairn {

namespace {

constexpr std::size_t page_max = 200;
const Actor retention_actor{"retention", std::nullopt};

// Calls `end` for each id of a paged list. `end` answers whether it ended the work.
template <class List, class End>
Result<std::size_t> end_each(const List& list, const End& end, const MayContinue& may_continue) {
  std::size_t ended = 0;
  PageRequest page{page_max, ""};
  do {
    CAIRN_TRY(const auto found, list(page));
    for (const auto& id : found.items) {
      CAIRN_TRY(const bool goes_on, may_continue());
      if (!goes_on) return ended;
      const Result<bool> done = end(id);
      if (!done && done.error().code == ErrorCode::unavailable) return done.error();
      // One that cannot be read must not keep the others from being ended.
      if (!done) log_warning("retention.not_ended", {{"id", id.value}, {"message", done.error().message}});
      ended += done && *done ? 1 : 0;
    }
    page.cursor = found.next_cursor;
  } while (!page.cursor.empty());
  return ended;
}

// The audit row of a request that no caller makes. The commit writes it.
AuditRow audit_row(const EngineCore& core, const char* what, std::string resource, const std::string& why,
                   Timestamp at) {
  AuditRow row;
  row.who = core.node();
  row.what = what;
  row.resource = std::move(resource);
  row.why = why;
  row.from = "retention";
  row.at = at;
  return row;
}

bool is_refusal(const Error& error) { return error.code == ErrorCode::conflict || error.code == ErrorCode::not_found; }

// Whether the task changed since `before`, or is due after `now`. A comment changes no row.
Result<bool> is_live(Store& store, const TaskRow& task, Timestamp before, Timestamp now) {
  if (!(task.changed_at < before) || (task.due && *task.due > now)) return true;
  CAIRN_TRY(const auto events, store.task_events(task.id));
  return std::any_of(events.begin(), events.end(), [&](const TaskEvent& event) { return !(event.at < before); });
}

class StaleInstances {
 public:
  StaleInstances(EngineCore& core, Timestamp before)
      : store_(core.store()), before_(before), now_(core.store().now()) {}

  // The instance, if neither it nor one of its open descendants has moved or will move.
  Result<std::optional<InstanceRow>> find(const InstanceId& root) {
    CAIRN_TRY(const auto row, store_.find_instance(root));
    if (!row) return std::optional<InstanceRow>();
    std::vector<InstanceRow> tree{*row};
    for (std::size_t at = 0; at < tree.size(); ++at) {
      const InstanceRow one = tree[at];
      if (is_final(one.status)) continue;
      CAIRN_TRY(const bool moves, may_move(one));
      if (moves) return std::optional<InstanceRow>();
      CAIRN_TRY_VOID(add_children(one.id, tree));
    }
    return is_final(row->status) ? std::optional<InstanceRow>() : row;
  }

 private:
  Result<bool> may_move(const InstanceRow& row) {
    if (!(row.changed_at < before_)) return true;
    CAIRN_TRY(const auto timers, store_.list_timers(row.id));
    if (std::any_of(timers.begin(), timers.end(), [&](const DueTimer& timer) { return timer.due > now_; })) return true;
    CAIRN_TRY(const auto messages, store_.list_messages(row.id));
    if (!messages.empty()) return true;
    CAIRN_TRY(const bool touched, has_live_task(row.id));
    if (touched) return true;
    CAIRN_TRY(const bool pending, has_live_run(row.id, RunStatus::pending));
    if (pending) return true;
    return has_live_run(row.id, RunStatus::leased);
  }

  Result<bool> has_live_task(const InstanceId& id) {
    TaskFilter filter;
    filter.instance = id;
    PageRequest page{page_max, ""};
    do {
      CAIRN_TRY(const auto tasks, store_.list_tasks(filter, page));
      for (const TaskRow& task : tasks.items) {
        CAIRN_TRY(const bool live, is_live(store_, task, before_, now_));
        if (live) return true;
      }
      page.cursor = tasks.next_cursor;
    } while (!page.cursor.empty());
    return false;
  }

  // A heartbeat changes only the lease of a run.
  Result<bool> has_live_run(const InstanceId& id, RunStatus status) {
    RunFilter filter;
    filter.instance = id;
    filter.status = status;
    PageRequest page{page_max, ""};
    do {
      CAIRN_TRY(const auto runs, store_.list_runs(filter, page));
      for (const RunRow& run : runs.items) {
        const bool waits = status == RunStatus::pending && run.run_at > now_;
        if (waits || !(run.updated_at < before_) || (run.lease_until && *run.lease_until > now_)) return true;
      }
      page.cursor = runs.next_cursor;
    } while (!page.cursor.empty());
    return false;
  }

  Result<void> add_children(const InstanceId& id, std::vector<InstanceRow>& tree) {
    InstanceFilter filter;
    filter.parent = id;
    PageRequest page{page_max, ""};
    do {
      CAIRN_TRY(auto children, store_.list_instances(filter, page));
      for (InstanceRow& child : children.items) {
        if (!is_final(child.status)) tree.push_back(std::move(child));
      }
      page.cursor = children.next_cursor;
    } while (!page.cursor.empty());
    return {};
  }

  Store& store_;
  const Timestamp before_;
  const Timestamp now_;
};

// Whether a timer of the step that waits for the task is ahead. A suspended instance keeps its tasks.
Result<bool> is_awaited_with_timer(Store& store, const TaskRow& task, Timestamp now) {
  CAIRN_TRY(const auto snapshot, store.find_snapshot(task.instance));
  if (!snapshot || is_final_or_suspended(snapshot->status)) return true;
  const auto& waits = snapshot->waits;
  const auto own =
      std::find_if(waits.begin(), waits.end(), [&](const Wait& wait) { return wait.target == task.id.value; });
  if (own == waits.end()) return true;
  return std::any_of(waits.begin(), waits.end(),
                     [&](const Wait& wait) { return wait.strand == own->strand && wait.until && *wait.until > now; });
}

}  // namespace

Result<std::size_t> expire_stale_tasks(EngineCore& core, Duration age, const MayContinue& may_continue) {
  Store& store = core.store();
  const Timestamp now = store.now();
  const Timestamp before = earlier(now, age);
  const std::string why = "the task was not changed for " + format_duration_short(age) + " (keep.stale_tasks)";
  const auto end = [&](const TaskId& id) -> Result<bool> {
    CAIRN_TRY(const auto task, store.find_task(id));
    if (!task) return false;
    CAIRN_TRY(const bool live, is_live(store, *task, before, now));
    if (live) return false;
    CAIRN_TRY(const bool has_timer, is_awaited_with_timer(store, *task, now));
    if (has_timer) return false;
    AuditScope scope(std::vector{audit_row(core, "retention.expireTask", "/v1/tasks/" + id.value, why, now)});
    const AuditScope::Enter entered(scope);
    return core.tasks().expire(*task, why, retention_actor);
  };
  return end_each([&](const PageRequest& page) { return store.unchanged_tasks(before, page); }, end, may_continue);
}

Result<std::size_t> cancel_stale_instances(EngineCore& core, Duration age, const MayContinue& may_continue) {
  Store& store = core.store();
  const Timestamp now = store.now();
  const Timestamp before = earlier(now, age);
  const std::string why = "no progress for " + format_duration_short(age) + " (keep.stale_instances)";
  StaleInstances stale(core, before);
  const auto end = [&](const InstanceId& id) -> Result<bool> {
    CAIRN_TRY(const auto row, stale.find(id));
    if (!row) return false;
    AuditScope scope(std::vector{audit_row(core, "retention.cancelInstance", "/v1/instances/" + id.value, why, now)});
    const AuditScope::Enter entered(scope);
    const auto done = core.instances().request(id, CancelRequested{why}, retention_actor, row->state_version);
    if (!done && is_refusal(done.error())) return false;
    if (!done) return done.error();
    return true;
  };
  return end_each([&](const PageRequest& page) { return store.unchanged_instances(before, page); }, end, may_continue);
}

}  // namespace cairn
