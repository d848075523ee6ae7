#include <utility>

#include "api/access/assignee_roles.h"
#include "api/api.h"
#include "api/documents.h"
#include "api/if_match.h"
#include "api/page_answer.h"
#include "api/precondition.h"
#include "api/problem.h"
#include "engine/task_rights.h"

namespace cairn::api {
namespace {

TaskId task_id_of(const Call& call) { return {std::string(call.at("id"))}; }

Response task_response(const TaskRow& row) {
  Response response = json_response(document(row));
  response.headers.emplace_back("etag", "\"" + std::to_string(row.state_version) + "\"");
  return response;
}

// The task, if the caller may see it.
Result<TaskRow> permitted_task(EngineCore& core, const Call& call) {
  CAIRN_TRY(const auto row, core.store().find_task(task_id_of(call)));
  if (!row) return Error{ErrorCode::not_found, "no task " + std::string(call.at("id"))};
  if (auto refused = refuse_reading(*row, actor_of(call))) return *refused;
  return *row;
}

void show_task(EngineCore& core, const Call& call) {
  const auto row = permitted_task(core, call);
  call.reply(row ? task_response(*row) : problem(row.error()));
}

void change(EngineCore& core, const Call& call, TaskChange::Kind kind) {
  const auto state_version = state_version_of(call);
  if (!state_version) {
    call.reply(problem(state_version.error()));
    return;
  }
  TaskChange wish;
  wish.kind = kind;
  wish.task = task_id_of(call);
  wish.state_version = *state_version;
  wish.actor = actor_of(call).name;
  wish.assignee = std::string(call.body.text_or("assignee", kind == TaskChange::Kind::assign ? wish.actor : ""));
  wish.comment = std::string(call.body.text_or("comment", ""));
  Result<std::optional<std::vector<std::string>>> roles = std::optional<std::vector<std::string>>();
  const bool assigns = kind == TaskChange::Kind::assign || kind == TaskChange::Kind::reassign;
  if (assigns && !wish.assignee.empty()) {
    // First check that the caller may see the task: not every caller may learn who has which keys.
    if (const auto task = permitted_task(core, call); !task) return call.reply(problem(task.error()));
    roles = assignee_roles(core.store(), call.identity, wish.assignee);
  }
  if (!roles) return call.reply(problem(roles.error()));
  core.tasks().change(std::move(wish), actor_of(call), std::move(*roles),
                      [&core, id = task_id_of(call), reply = call.reply](const Result<TaskRow>& row) {
                        if (!row) return reply_to_refused(core, id, reply, row.error());
                        reply(task_response(*row));
                      });
}

void complete(EngineCore& core, const Call& call) {
  const auto state_version = state_version_of(call);
  if (!state_version) {
    call.reply(problem(state_version.error()));
    return;
  }
  TaskCompletion completion;
  completion.task = task_id_of(call);
  completion.payload = call.body.find("payload") ? call.body["payload"] : Json::object();
  completion.state_version = *state_version;
  completion.idempotency_key = std::string(call.request.header("idempotency-key"));
  completion.actor = actor_of(call);
  core.tasks().complete(std::move(completion),
                        [&core, id = task_id_of(call), reply = call.reply](Result<InstanceAnswer> answer) {
                          if (!answer) return reply_to_refused(core, id, reply, answer.error());
                          // The first answer is in the commit of the completion.
                          const bool repeated = std::exchange(answer->repeated, false);
                          Response response = json_response(document(*answer));
                          if (repeated) response.headers.emplace_back(replayed_header, "true");
                          reply(std::move(response));
                        });
}

void task_events(EngineCore& core, const Call& call) {
  if (const auto task = permitted_task(core, call); !task) return call.reply(problem(task.error()));
  const auto fetch = [&](const PageRequest& page) { return core.store().list_task_events(task_id_of(call), page); };
  call.reply(page_answer(call, fetch, [](const TaskEvent& event) { return document(event); }));
}

constexpr std::string_view assign_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"assignee":{"type":"string","minLength":1}}})";
constexpr std::string_view reassign_schema =
    R"({"type":"object","required":["assignee"],"additionalProperties":false,"properties":{"assignee":{"type":"string","minLength":1}}})";
constexpr std::string_view comment_schema =
    R"({"type":"object","required":["comment"],"additionalProperties":false,"properties":{"comment":{"type":"string","minLength":1}}})";
constexpr std::string_view complete_task_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"payload":true}})";

}  // namespace

std::vector<Route> task_routes(EngineCore& core) {
  EngineCore* const with = &core;
  const auto changing = [with](TaskChange::Kind kind) {
    return [with, kind](const Call& call) { change(*with, call, kind); };
  };
  return {
      {"GET", "/v1/tasks/{id}", Permission::view_tasks, "getTask", "One task with its form and payload",
       [with](const Call& call) { show_task(*with, call); }},
      {"GET",
       "/v1/tasks/{id}/events",
       Permission::view_tasks,
       "getTaskEvents",
       "The events of a task, oldest first",
       [with](const Call& call) { task_events(*with, call); },
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"POST",
       "/v1/tasks/{id}/assign",
       Permission::work_tasks,
       "assignTask",
       "Assign a task (default: to the caller)",
       changing(TaskChange::Kind::assign),
       {},
       assign_schema},
      {"POST", "/v1/tasks/{id}/release", Permission::work_tasks, "releaseTask", "Release an assigned task",
       changing(TaskChange::Kind::release)},
      {"POST",
       "/v1/tasks/{id}/reassign",
       Permission::work_tasks,
       "reassignTask",
       "Reassign a task to another person",
       changing(TaskChange::Kind::reassign),
       {},
       reassign_schema},
      {"POST",
       "/v1/tasks/{id}/comment",
       Permission::work_tasks,
       "commentTask",
       "Comment on a task",
       changing(TaskChange::Kind::comment),
       {},
       comment_schema},
      {"POST",
       "/v1/tasks/{id}/complete",
       Permission::work_tasks,
       "completeTask",
       "Complete a task; its instance continues in the same commit",
       [with](const Call& call) { complete(*with, call); },
       {},
       complete_task_schema,
       "application/json",
       true},
  };
}

}  // namespace cairn::api
