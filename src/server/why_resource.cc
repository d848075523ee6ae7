// Why an instance does not move: what it waits for, since when, who or what can unblock it, and the command for that.
#include "server/api.h"
#include "server/documents.h"
#include "server/problem.h"

namespace cairn::server {
namespace {

struct Reason {
  std::string text;
  std::string command;  // empty: there is none
};

std::string quoted(std::string_view text) {
  std::string shell = "'";
  for (const char c : text) shell += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return shell + "'";
}

std::string join(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " or ") + name;
  return list;
}

Result<Reason> task_reason(Store& store, const Wait& wait) {
  std::string who = "anybody";
  CAIRN_TRY(const auto task, store.find_task({wait.target}));
  if (task && !task->roles.empty()) who = "somebody with the role " + join(task->roles);
  if (task && !task->assignee.empty()) who = task->assignee;
  std::string but;
  if (task && !task->exclude.empty()) but = ", but not " + join(task->exclude);
  return Reason{"waits for " + who + but + " to complete the task " + wait.name,
                "cairn task complete " + wait.target + " --payload '{…}'"};
}

Result<Reason> run_reason(Store& store, const Wait& wait) {
  CAIRN_TRY(const auto run, store.find_run({wait.target}));
  std::string text = "waits for a worker that takes " + wait.name;
  if (!run) return Reason{text, ""};
  if (run->status == RunStatus::leased) text = "waits for the worker " + run->leased_by + " to finish " + wait.name;
  if (run->status == RunStatus::pending && run->run_at > store.now())
    text = "waits to try " + wait.name + " again at " + format_timestamp(run->run_at);
  if (run->attempt > 0)
    text += ", attempt " + std::to_string(run->attempt) + " of " + std::to_string(run->attempts_max);
  if (!run->last_error.empty()) text += "; last error: " + run->last_error;
  return Reason{text, ""};
}

Result<Reason> wait_reason(Store& store, const InstanceId& id, const Wait& wait) {
  switch (wait.kind) {
    case WaitKind::task: return task_reason(store, wait);
    case WaitKind::run: return run_reason(store, wait);
    case WaitKind::timer:
      return Reason{"waits until " + (wait.until ? format_timestamp(*wait.until) : std::string("later")), ""};
    case WaitKind::signal: {
      const bool keyed = wait.key.is_string();
      return Reason{
          "waits for the signal " + wait.name + (keyed ? " with the key " + std::string(wait.key.as_string()) : ""),
          "cairn signal " + id.value + " " + wait.name + (keyed ? " --key " + quoted(wait.key.as_string()) : "") +
              " --payload '{…}'"};
    }
    case WaitKind::subworkflow:
      return Reason{"waits for the subworkflow " + wait.name + ", instance " + wait.target, "cairn why " + wait.target};
  }
  return Error{ErrorCode::internal, "an unknown kind of wait"};
}

Result<Json> why(Store& store, const InstanceId& id) {
  CAIRN_TRY(const auto row, store.find_instance(id));
  if (!row) return Error{ErrorCode::not_found, "no instance " + id.value};
  Json reasons = Json::array();
  const auto add = [&](const std::string& text, const std::string& command, const Wait* wait = nullptr) {
    Json reason = Json::object({{"reason", text}});
    if (!command.empty()) reason.set("command", command);
    if (wait) {
      reason.set("step", wait->step);
      reason.set("since", format_timestamp(wait->since));
    }
    reasons.push_back(std::move(reason));
  };
  if (is_final(row->status)) {
    add(std::string("It is ") + to_string(row->status) + " and waits for nothing", "");
  } else if (row->status == Status::suspended) {
    if (row->error) {
      add("It is suspended by an incident at " + row->error->step + ": " + row->error->code + ": " +
              row->error->message,
          "cairn retry " + id.value);
    } else {
      add("It was suspended by an operator", "cairn resume " + id.value);
    }
  } else if (row->status == Status::running) {
    add("It is running: a node is going on with it", "");
  }
  CAIRN_TRY(const auto waits, store.list_waits(id));
  for (const Wait& wait : waits) {
    CAIRN_TRY(const Reason reason, wait_reason(store, id, wait));
    add("Step " + wait.step + " " + reason.text, reason.command, &wait);
  }
  return Json::object({{"id", id.value}, {"status", to_string(row->status)}, {"reasons", reasons}});
}

}  // namespace

std::vector<Route> why_routes(Coordinator& coordinator) {
  Coordinator* const with = &coordinator;
  return {{"GET", "/v1/instances/{id}/why", Permission::view, "explainInstance",
           "What an instance waits for, since when, and how to unblock it", [with](const Call& call) {
             const auto answer = why(with->store(), {std::string(call.at("id"))});
             call.reply(answer ? json_response(*answer) : problem(answer.error()));
           }}};
}

}  // namespace cairn::server
