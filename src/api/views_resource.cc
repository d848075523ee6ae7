// /v1/views: saved filters. A view belongs to the person who saved it; a shared one is for all users who may read.
#include "api/api.h"
#include "api/filter_text.h"
#include "api/own_documents.h"
#include "api/problem.h"

namespace cairn::api {
namespace {

constexpr const char* view_kind = "view";
constexpr std::size_t views_max = 100;

bool is_shared_view(const DocumentRow& row) { return row.body["shared"] == Json(true); }

Json view_document(const DocumentRow& row, const Identity& caller) {
  Json view = row.body.is_object() ? row.body : Json::object();
  view.set("id", row.id.substr(row.id.rfind('/') + 1));
  view.set("owner", row.owner);
  view.set("own", row.owner == caller.person);
  view.set("changed_at", format_timestamp(row.changed_at));
  return view;
}

void list_views(EngineCore& core, const Call& call) {
  Json items = Json::array();
  PageRequest page{1'000, ""};
  do {
    const auto rows = core.store().list_documents({view_kind}, page);
    if (!rows) return call.reply(problem(rows.error()));
    for (const DocumentRow& row : rows->items) {
      if (row.owner == call.identity.person || is_shared_view(row)) items.push_back(view_document(row, call.identity));
    }
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  call.reply(json_response(Json::object({{"items", items}, {"next_cursor", nullptr}})));
}

// The id of a view is unique for its owner.
std::string stored_view_id(const Call& call) { return call.identity.person + "/" + std::string(call.at("id")); }

Result<void> check_view_filter(const Json& body) {
  const std::string_view filter = body.text_or("filter", "");
  if (body.text_or("page", "") == "inbox") {
    TaskFilter tasks;
    return read_filter(filter, tasks);
  }
  InstanceFilter instances;
  return read_filter(filter, instances);
}

void put_view(EngineCore& core, const Call& call) {
  if (!is_caller_id(call.at("id"))) return call.reply(bad_id("the id of a view"));
  if (call.body["shared"] == Json(true) && !call.identity.may(Permission::operate)) {
    return call.reply(problem(403, "forbidden", "Not allowed", "to share a view needs the permission operate"));
  }
  if (const auto read = check_view_filter(call.body); !read) {
    return call.reply(problem(400, "filter", "The filter cannot be read", read.error().message));
  }
  const auto row =
      put_own(core.store(), {view_kind, stored_view_id(call), call.identity.person, call.body, 0, {}}, views_max);
  call.reply(row ? json_response(view_document(*row, call.identity)) : problem(row.error()));
}

void remove_view(EngineCore& core, const Call& call) {
  const auto there = core.store().remove_document(view_kind, stored_view_id(call));
  if (!there) return call.reply(problem(there.error()));
  if (!*there)
    return call.reply(problem({ErrorCode::not_found, "no view " + std::string(call.at("id")) + " of yours"}));
  call.reply({204, "application/json", {}, ""});
}

constexpr std::string_view view_schema =
    R"({"type":"object","required":["name","filter"],"additionalProperties":false,"properties":{
  "name":{"type":"string","minLength":1,"maxLength":60},
  "page":{"enum":["instances","inbox"],"description":"default: instances"},
  "filter":{"type":"string","maxLength":1000,"description":"status:suspended definition:loan.approval …"},
  "shared":{"type":"boolean","description":"also for other people"}}})";

}  // namespace

std::vector<Route> view_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"GET", "/v1/views", Permission::view_tasks, "listViews", "Saved views: your own and the shared ones",
       [with](const Call& call) { list_views(*with, call); }},
      {"PUT",
       "/v1/views/{id}",
       Permission::view_tasks,
       "putView",
       "Save a view",
       [with](const Call& call) { put_view(*with, call); },
       {},
       view_schema},
      {"DELETE", "/v1/views/{id}", Permission::view_tasks, "deleteView", "Remove one of your views",
       [with](const Call& call) { remove_view(*with, call); }},
  };
}

}  // namespace cairn::api
