// The list of tasks: filters of the caller, and only what the caller may see.
#include "api/api.h"
#include "api/documents.h"
#include "api/filter_text.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "engine/task_rights.h"

namespace cairn::api {
namespace {

void list_tasks(EngineCore& core, const Call& call) {
  TaskFilter filter;
  filter.assignee = std::string(call.request.query_value("assignee"));
  filter.name = std::string(call.request.query_value("name"));
  filter.reference_key = std::string(call.request.query_value("reference"));
  filter.text = std::string(call.request.query_value("q"));
  filter.closed = call.request.query_value("closed") == "true";
  if (call.request.query_value("overdue") == "true") filter.due_before = core.store().now();
  for (const auto& [name, value] : call.request.query) {
    if (name == "role") filter.roles.push_back(value);
    if (name == "instance") filter.instance = InstanceId{value};
  }
  if (const std::string_view status = call.request.query_value("status"); !status.empty()) {
    for (const TaskStatus one :
         {TaskStatus::open, TaskStatus::assigned, TaskStatus::completed, TaskStatus::cancelled, TaskStatus::expired}) {
      if (status == to_string(one)) filter.status = one;
    }
    if (!filter.status) {
      call.reply(problem(400, "status", "Unknown status", "use open, assigned, completed, cancelled or expired"));
      return;
    }
  }
  if (const auto read = read_filter(call.request.query_value("filter"), filter); !read) {
    call.reply(problem(400, "filter", "The filter cannot be read", read.error().message));
    return;
  }
  if (const auto fits = check_search(filter.text, core.context().options.limits); !fits) {
    call.reply(problem(fits.error()));
    return;
  }
  // "mine": tasks for the caller, as a person and by role.
  if (call.request.query_value("mine") == "true") {
    if (filter.assignee.empty() && call.request.query_value("status") == "assigned") {
      filter.assignee = call.identity.person;
    }
    if (call.identity.task_roles) {
      filter.roles = *call.identity.task_roles;
      if (filter.roles.empty()) filter.roles.emplace_back();  // no role: only tasks without roles
    }
  }
  filter.viewer_roles = viewer_roles_of(actor_of(call));
  const auto fetch = [&](const PageRequest& page) { return core.store().list_tasks(filter, page); };
  call.reply(page_answer(call, fetch, [](const TaskRow& row) { return document(row); }));
}

}  // namespace

std::vector<Route> task_list_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"GET",
       "/v1/tasks",
       Permission::view_tasks,
       "listTasks",
       "List tasks, the most urgent first",
       [with](const Call& call) { list_tasks(*with, call); },
       {{"status", "one status (default: open and assigned)"},
        {"assignee", "a person"},
        {"role", "a role (repeatable)"},
        {"instance", "of one instance"},
        {"name", "a task name"},
        {"reference", "a reference key"},
        {"q", "a text in name, title, reference or instance"},
        {"overdue", "true: past their due time or deadline"},
        {"closed", "true: include closed tasks"},
        {"mine", "true: only tasks that the caller may work on"},
        {"filter", "role:clerk due:2026-01-31 …, the same language as on the command line"},
        {"limit", "maximum number of items"},
        {"cursor", "next_cursor of the previous page"}}},
  };
}

}  // namespace cairn::api
