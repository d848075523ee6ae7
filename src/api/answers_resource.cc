// Links with which one person answers one task, without an account: POST /v1/tasks/{id}/link makes one, and the page
// behind it uses GET and POST /v1/answer. The link is in a header, because paths are in logs. GET changes nothing,
// since mail programs open links to check them.
#include <algorithm>

#include "api/access/ticket.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/documents.h"
#include "api/problem.h"
#include "store/projection.h"

namespace cairn::api {
namespace {

constexpr std::string_view link_header = "x-cairn-link";
constexpr std::int64_t link_usual_s = 72 * 3600, link_max_s = 30 * 86'400;

bool is_open_task(const TaskRow& task) {
  return task.status == TaskStatus::open || task.status == TaskStatus::assigned;
}

Result<TaskRow> task_of(EngineCore& core, const std::string& id) {
  CAIRN_TRY(const auto task, core.store().find_task({id}));
  if (!task) return Error{ErrorCode::not_found, "no task " + id};
  return *task;
}

void create_link(EngineCore& core, const Tickets& tickets, const std::string& base_path, const Call& call) {
  const auto lifetime = duration_of(call.body, "expires_in");
  if (!lifetime) return call.reply(problem(lifetime.error()));
  const Duration lasts = *lifetime ? **lifetime : Duration::of_seconds(link_usual_s);
  if (lasts.ms_up() > link_max_s * 1000) {
    return call.reply(
        problem(wrong_member("/expires_in", {ErrorCode::invalid, "a link is valid for at most 30 days"})));
  }
  const auto task = task_of(core, std::string(call.at("id")));
  if (!task) return call.reply(problem(task.error()));
  const std::string person(call.body["person"].as_string());
  if (!is_open_task(*task)) return call.reply(problem({ErrorCode::conflict, "task " + task->id.value + " is closed"}));
  if (!task->assignee.empty() && task->assignee != person) {
    return call.reply(problem({ErrorCode::conflict, "task " + task->id.value + " is assigned to " + task->assignee}));
  }
  if (std::find(task->exclude.begin(), task->exclude.end(), person) != task->exclude.end()) {
    return call.reply(
        problem({ErrorCode::not_allowed, person + " may not have task " + task->id.value + " (exclude)"}));
  }
  AnswerTicket ticket;
  ticket.task = task->id.value;
  ticket.state_version = task->state_version;
  ticket.person = person;
  if (const Json* answer = call.body.find("answer")) ticket.answer = *answer;
  ticket.issued_at = core.store().now();
  ticket.expires_at = after(ticket.issued_at, lasts);
  const std::string token = tickets.issue(ticket);
  call.reply(json_response(Json::object({{"path", base_path + "/t/" + token},
                                         {"token", token},
                                         {"person", person},
                                         {"expires_at", format_timestamp(ticket.expires_at)}}),
                           201));
}

Result<Identity> identify_by_link(const Tickets& tickets, const Request& request) {
  const auto ticket = tickets.read_answer(request.header(link_header));
  if (!ticket) return Error{ErrorCode::not_found, ticket.error().message};
  Identity identity;
  identity.account = "link:" + ticket->task;
  identity.person = ticket->person;
  return identity;
}

// Who started the instance; null if that is not known.
Json starter_of(InstanceStore& store, const InstanceId& id) {
  const auto first = store.history(id, {1, ""});
  if (!first || first->items.empty()) return {};
  const std::string& actor = first->items.front().entry.actor;
  if (actor.empty() || actor == "anonymous" || actor == "operator") return {};
  return actor;
}

// What other people have decided before.
Result<Json> decisions_before(TaskStore& store, const TaskRow& task) {
  constexpr std::size_t decisions_max = 20;
  TaskFilter filter;
  filter.instance = task.instance;
  filter.status = TaskStatus::completed;
  CAIRN_TRY(const auto tasks, store.list_tasks(filter, {decisions_max, ""}));
  std::vector<TaskRow> list = tasks.items;
  std::sort(list.begin(), list.end(),
            [](const TaskRow& a, const TaskRow& b) { return a.completed_at < b.completed_at; });
  Json items = Json::array();
  for (const TaskRow& one : list) {
    if (one.id == task.id || !one.completed_at) continue;
    items.push_back(Json::object({{"title", one.title.empty() ? one.name : one.title},
                                  {"person", one.completed_by},
                                  {"at", format_timestamp(*one.completed_at)}}));
  }
  return items;
}

const char* state_of(const AnswerTicket& ticket, const TaskRow& task, Timestamp now) {
  if (task.status == TaskStatus::completed) return "answered";
  if (!is_open_task(task)) return "closed";
  if (ticket.expires_at <= now) return "expired";
  return task.state_version == ticket.state_version ? "open" : "changed";
}

// What the person sees. A link that cannot be used any more shows no contents. 200 for every link, because a browser
// reports every other status as an error of the page.
void show_answer_page(EngineCore& core, const Tickets& tickets, const Call& call) {
  const auto ticket = tickets.read_answer(call.request.header(link_header));
  if (!ticket) return call.reply(json_response(Json::object({{"state", "unknown"}})));
  const auto task = core.store().find_task({ticket->task});
  if (!task) return call.reply(problem(task.error()));
  if (!*task) return call.reply(json_response(Json::object({{"state", "closed"}, {"person", ticket->person}})));
  const TaskRow& row = **task;
  const std::string_view state = state_of(*ticket, row, core.store().now());
  Json page = Json::object({{"state", state}, {"person", ticket->person}});
  page.set("title", row.title.empty() ? row.name : row.title);
  if (state == "answered" && row.completed_at) {
    page.set("answered_at", format_timestamp(*row.completed_at));
    page.set("answered_by", row.completed_by);
  }
  if (state != "open") return call.reply(json_response(page));
  const auto before = decisions_before(core.store(), row);
  if (!before) return call.reply(problem(before.error()));
  page.set("requester", starter_of(core.store(), row.instance));
  page.set("asked_at", format_timestamp(row.created_at));
  if (row.due) page.set("due", format_timestamp(*row.due));
  if (row.deadline) page.set("deadline", format_timestamp(*row.deadline));
  page.set("reference", row.reference.key);
  page.set("payload", row.payload);
  page.set("form", row.form);
  if (!ticket->answer.is_null()) page.set("answer", ticket->answer);
  page.set("before", *before);
  page.set("expires_at", format_timestamp(ticket->expires_at));
  call.reply(json_response(page));
}

void give_answer(EngineCore& core, const Tickets& tickets, const Call& call) {
  const auto ticket = tickets.read_answer(call.request.header(link_header));
  if (!ticket) return call.reply(problem(ticket.error()));
  const auto task = task_of(core, ticket->task);
  if (!task) return call.reply(problem(task.error()));
  const std::string_view state = state_of(*ticket, *task, core.store().now());
  if (state != "open") {
    return call.reply(
        problem({ErrorCode::conflict, state == "expired"    ? "this link has expired"
                                      : state == "answered" ? "this was answered already"
                                                            : "this has changed since the link was sent"}));
  }
  TaskCompletion completion;
  completion.task = task->id;
  completion.payload = call.body.find("payload") ? call.body["payload"] : Json::object();
  completion.state_version = ticket->state_version;
  // The sender of the link vouches for the role. Four eyes and the assignee are checked as for everyone.
  completion.actor = {ticket->person, task->roles, false, "person " + ticket->person};
  core.tasks().complete(std::move(completion), [reply = call.reply](const Result<InstanceAnswer>& answer) {
    if (!answer) return reply(problem(answer.error()));
    reply(json_response(Json::object({{"state", "answered"}})));
  });
}

constexpr std::string_view link_schema =
    R"({"type":"object","required":["person"],"additionalProperties":false,"properties":{
  "person":{"type":"string","minLength":1,"maxLength":200,"description":"who answers with the link"},
  "expires_in":{"type":"string","description":"how long the link is valid: 72h; at most 30 days"},
  "answer":{"description":"the answer that the page proposes"}}})";
constexpr std::string_view answer_schema =
    R"({"type":"object","additionalProperties":false,"properties":{"payload":true}})";

}  // namespace

std::vector<Route> ticket_routes(EngineCore& core, std::shared_ptr<const Tickets> tickets, std::string base_path) {
  EngineCore* const with = &core;
  const auto identify = [tickets](const Request& request) { return identify_by_link(*tickets, request); };
  Route show{"GET",
             "/v1/answer",
             Permission::open,
             "showAnswerPage",
             "What a link in X-Cairn-Link asks",
             [with, tickets](const Call& call) { show_answer_page(*with, *tickets, call); }};
  Route give{"POST",
             "/v1/answer",
             Permission::signed_request,
             "giveAnswer",
             "Answer the task of a link in X-Cairn-Link, once",
             [with, tickets](const Call& call) { give_answer(*with, *tickets, call); },
             {},
             answer_schema};
  give.identify = identify;
  give.keeps_keys = true;
  // The link must not be stored, not even for a repeat.
  std::vector<Route> routes = {{"POST",
                                "/v1/tasks/{id}/link",
                                Permission::manage_tasks,
                                "createTaskLink",
                                "Make a link with which one person answers the task without an account",
                                [with, tickets, base_path = std::move(base_path)](const Call& call) {
                                  create_link(*with, *tickets, base_path, call);
                                },
                                {},
                                link_schema,
                                "application/json",
                                true},
                               std::move(show),
                               std::move(give)};
  for (Route& route : embed_routes(core, tickets)) routes.push_back(std::move(route));
  return routes;
}

}  // namespace cairn::api
