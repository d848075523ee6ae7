// POST /v1/embed: a short-lived credential for a page of another site, which shows the diagram of an instance or the
// caller's inbox (docs/console/embed.md). The program behind that page asks for it and puts it into the page.
#include <algorithm>

#include "api/access/ticket.h"
#include "api/api.h"
#include "api/body_members.h"
#include "api/problem.h"
#include "store/projection.h"

namespace cairn::api {
namespace {

constexpr std::int64_t embed_usual_s = 600, embed_max_s = 3'600;

void create_embed(EngineCore& core, const Tickets& tickets, const Call& call) {
  const auto lifetime = duration_of(call.body, "expires_in");
  if (!lifetime) return call.reply(problem(lifetime.error()));
  const Duration lasts = *lifetime ? **lifetime : Duration::of_seconds(embed_usual_s);
  if (lasts.ms_up() > embed_max_s * 1000) {
    return call.reply(problem(wrong_member("/expires_in", {ErrorCode::invalid, "it is valid for at most an hour"})));
  }
  EmbedTicket ticket;
  ticket.person = std::string(call.body.text_or("person", call.identity.person));
  ticket.account = call.identity.account;
  ticket.task_roles = call.identity.task_roles;
  const bool of_another = ticket.person != call.identity.person || call.body.find("task_roles") != nullptr;
  if (of_another && !call.identity.may(Permission::administer)) {
    return call.reply(
        problem(403, "forbidden", "Not allowed", "a credential for another person needs the permission administer"));
  }
  if (const Json* roles = call.body.find("task_roles")) {
    ticket.task_roles.emplace();
    for (const Json& role : roles->items()) ticket.task_roles->emplace_back(role.as_string());
  } else if (of_another) {
    ticket.task_roles.emplace();
  }
  const auto add = [&](Permission needed, Role role, std::string path) {
    if (!call.identity.may(needed)) return false;
    if (std::find(ticket.roles.begin(), ticket.roles.end(), to_string(role)) == ticket.roles.end()) {
      ticket.roles.emplace_back(to_string(role));
    }
    ticket.paths.push_back(std::move(path));
    return true;
  };
  if (const Json* instance = call.body.find("instance")) {
    const std::string id(instance->as_string());
    const auto row = core.store().find_instance({id});
    if (!row || !*row)
      return call.reply(row ? problem({ErrorCode::not_found, "no instance " + id}) : problem(row.error()));
    if (!add(Permission::view, Role::viewer, "/v1/instances/" + id + "/diagram")) {
      return call.reply(problem(403, "forbidden", "Not allowed", "a diagram needs the permission view"));
    }
  }
  if (call.body["inbox"] == Json(true) && !add(Permission::work_tasks, Role::task_worker, "/v1/tasks")) {
    return call.reply(problem(403, "forbidden", "Not allowed", "an inbox needs the permission work_tasks"));
  }
  if (ticket.paths.empty()) {
    return call.reply(problem({ErrorCode::invalid, "say what the page shows: `instance`, `inbox` or both"}));
  }
  ticket.expires_at = after(core.store().now(), lasts);
  call.reply(json_response(
      Json::object({{"token", tickets.issue(ticket)}, {"expires_at", format_timestamp(ticket.expires_at)}}), 201));
}

constexpr std::string_view embed_schema =
    R"({"type":"object","additionalProperties":false,"properties":{
  "instance":{"type":"string","description":"whose diagram the page shows"},
  "inbox":{"const":true,"description":"the page shows the person's tasks"},
  "person":{"type":"string","minLength":1,"maxLength":200,"description":"who uses the page; default: the caller"},
  "task_roles":{"type":"array","maxItems":100,"items":{"type":"string"},"description":"the person's roles in tasks"},
  "expires_in":{"type":"string","description":"10m; at most an hour"}}})";

}  // namespace

std::vector<Route> embed_routes(EngineCore& core, std::shared_ptr<const Tickets> tickets) {
  EngineCore* const with = &core;
  // The credential must not be stored, not even for a repeat.
  return {{"POST",
           "/v1/embed",
           Permission::signed_in,
           "createEmbedToken",
           "Make a short-lived credential for a page that embeds a diagram or an inbox",
           [with, tickets](const Call& call) { create_embed(*with, *tickets, call); },
           {},
           embed_schema,
           "application/json",
           true}};
}

}  // namespace cairn::api
