// /v1/tasks/{id}/draft: what a person has entered so far. The draft of a person is not shown to others, and nothing
// checks it: a half-filled form is one too.
#include "api/api.h"
#include "api/own_documents.h"
#include "api/problem.h"
#include "base/limit_refusals.h"
#include "engine/task_rights.h"

namespace cairn::api {
namespace {

constexpr const char* draft_kind = "draft";
constexpr std::size_t drafts_max = 500;
constexpr std::size_t draft_bytes_max = 64u << 10;

std::string stored_draft_id(const Call& call) { return std::string(call.at("id")) + "/" + call.identity.person; }

// Whether the caller may see the task.
Result<TaskRow> drafted_task(EngineCore& core, const Call& call) {
  const std::string id(call.at("id"));
  CAIRN_TRY(const auto task, core.store().find_task({id}));
  if (!task) return Error{ErrorCode::not_found, "no task " + id};
  if (auto refused = refuse_reading(*task, actor_of(call))) return *refused;
  return *task;
}

Json draft_document(const DocumentRow& row) {
  return Json::object({{"payload", row.body["payload"]}, {"saved_at", format_timestamp(row.changed_at)}});
}

// 200 without a draft too: a browser reports every other status as an error of the page.
void show_draft(EngineCore& core, const Call& call) {
  if (const auto task = drafted_task(core, call); !task) return call.reply(problem(task.error()));
  const auto row = core.store().find_document(draft_kind, stored_draft_id(call));
  if (!row) return call.reply(problem(row.error()));
  call.reply(json_response(*row ? draft_document(**row) : Json::object({{"payload", nullptr}, {"saved_at", nullptr}})));
}

// Removes the drafts of tasks that are closed or gone.
Result<void> forget_old_drafts(Store& store, const std::string& person) {
  CAIRN_TRY(const auto drafts, store.list_documents({draft_kind, person}, {drafts_max, ""}));
  for (const DocumentRow& row : drafts.items) {
    CAIRN_TRY(const auto task, store.find_task({row.id.substr(0, row.id.find('/'))}));
    if (task && (task->status == TaskStatus::open || task->status == TaskStatus::assigned)) continue;
    CAIRN_TRY_VOID(store.remove_document(draft_kind, row.id));
  }
  return {};
}

void put_draft(EngineCore& core, const Call& call) {
  const auto task = drafted_task(core, call);
  if (!task) return call.reply(problem(task.error()));
  if (task->status != TaskStatus::open && task->status != TaskStatus::assigned) {
    return call.reply(problem({ErrorCode::conflict, "task " + task->id.value + " is closed"}));
  }
  const std::size_t bytes = write_json(call.body["payload"]).size();
  if (bytes > draft_bytes_max) {
    return call.reply(problem(limit_error("draft_bytes", static_cast<std::int64_t>(draft_bytes_max),
                                          "the draft has " + std::to_string(bytes) + " bytes")));
  }
  const Json body = Json::object({{"payload", call.body["payload"]}});
  const DocumentRow draft{draft_kind, stored_draft_id(call), call.identity.person, body, 0, {}};
  auto row = put_own(core.store(), draft, drafts_max);
  if (!row && row.error().code == ErrorCode::limit) {
    if (const auto removed = forget_old_drafts(core.store(), draft.owner); !removed)
      return call.reply(problem(removed.error()));
    row = put_own(core.store(), draft, drafts_max);
  }
  call.reply(row ? json_response(draft_document(*row)) : problem(row.error()));
}

void remove_draft(EngineCore& core, const Call& call) {
  const auto there = core.store().remove_document(draft_kind, stored_draft_id(call));
  call.reply(there ? Response{204, "application/json", {}, ""} : problem(there.error()));
}

constexpr std::string_view draft_schema =
    R"({"type":"object","required":["payload"],"additionalProperties":false,"properties":{"payload":true}})";

}  // namespace

std::vector<Route> draft_routes(EngineCore& core) {
  EngineCore* const with = &core;
  std::vector<Route> routes = {
      {"GET", "/v1/tasks/{id}/draft", Permission::work_tasks, "getDraft", "Your draft of a task",
       [with](const Call& call) { show_draft(*with, call); }},
      {"PUT",
       "/v1/tasks/{id}/draft",
       Permission::work_tasks,
       "putDraft",
       "Save your draft of a task; it is not checked",
       [with](const Call& call) { put_draft(*with, call); },
       {},
       draft_schema},
      {"DELETE", "/v1/tasks/{id}/draft", Permission::work_tasks, "deleteDraft", "Remove your draft of a task",
       [with](const Call& call) { remove_draft(*with, call); }},
  };
  // Drafts are saved at every pause of typing.
  for (Route& route : routes) route.is_audited = false;
  return routes;
}

}  // namespace cairn::api
