#include "api/api.h"

#include <algorithm>
#include <charconv>

#include "api/problem.h"

namespace cairn::api {

Response json_response(const Json& document, int status) {
  return {status, "application/json", {}, write_json(document)};
}

Actor actor_of(const Call& call) {
  const Identity& identity = call.identity;
  // Two keys of one person are one sender, so that a new key can repeat a request of the old one.
  return {identity.person, identity.task_roles, identity.may(Permission::manage_tasks),
          identity.is_named() ? "person " + identity.person : std::string()};
}

bool is_caller_id(std::string_view id) {
  constexpr std::size_t id_characters_max = 200;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._~:-").find(c) != std::string_view::npos;
  };
  return !id.empty() && id.size() <= id_characters_max && id != "." && id != ".." &&
         std::all_of(id.begin(), id.end(), fits);
}

Response bad_id(std::string_view what) {
  return problem(400, "id", "Invalid id",
                 std::string(what) + " must have 1 to 200 letters, digits, `.`, `_`, `~`, `:` and `-`");
}

Result<PageRequest> page_of(const Call& call) {
  constexpr std::size_t page_limit_max = 1000;
  PageRequest page;
  const std::string_view limit = call.request.query_value("limit");
  if (!limit.empty()) {
    const auto read = std::from_chars(limit.data(), limit.data() + limit.size(), page.limit);
    const bool too_large = read.ec == std::errc::result_out_of_range;
    if (read.ptr != limit.data() + limit.size() || (read.ec != std::errc() && !too_large) || page.limit == 0) {
      return Error{ErrorCode::invalid, "`limit` must be a whole number from 1; a page has at most 1000 items"};
    }
    page.limit = too_large ? page_limit_max : std::min(page.limit, page_limit_max);
  }
  page.cursor = std::string(call.request.query_value("cursor"));
  return page;
}

std::string reason_of(const Call& call) {
  const bool in_body = call.body.is_object() && call.request.method != "PATCH";
  std::string reason(in_body ? call.body.text_or("reason", "") : "");
  if (reason.empty()) reason = std::string(call.request.query_value("reason"));
  if (reason.empty()) reason = std::string(call.request.header("x-cairn-reason"));
  return reason;
}

std::vector<Route> api_routes(EngineCore& core, std::shared_ptr<InstanceWaiters> waiters) {
  std::vector<Route> routes;
  const auto add = [&routes](std::vector<Route> resource) {
    for (Route& route : resource) routes.push_back(std::move(route));
  };
  add(diagram_routes(core));
  add(definition_routes(core));
  add(bulk_routes(core, *waiters));
  add(alert_routes(core, *waiters));
  add(instance_routes(core, std::move(waiters)));
  for (auto* resource :
       {instance_view_routes, instance_operation_routes, task_list_routes, task_routes, draft_routes, view_routes,
        signal_routes, run_routes, run_type_routes, operation_routes, why_routes, error_routes, event_routes,
        key_routes, audit_routes, schedule_routes, outbox_routes, dead_letter_routes, upkeep_routes}) {
    add(resource(core));
  }
  add(problem_routes());
  return routes;
}

}  // namespace cairn::api
