// Lists of instances, their history and their snapshot: everything that only reads.
#include "api/filter_text.h"
#include "api/instance_replies.h"
#include "api/instance_search.h"
#include "api/page_answer.h"
#include "instance/snapshot.h"

namespace cairn::api {
namespace {

// What the instance waits for, and which of its steps is retried. An unreadable snapshot has no waits; GET of the
// instance says why.
void add_waits(Store& store, const InstanceId& id, Json& shown) {
  const auto snapshot = store.find_snapshot(id);
  if (!snapshot || !*snapshot) return;
  Json waits = Json::array();
  for (const Wait& wait : (**snapshot).waits) waits.push_back(document(wait));
  shown.set("waits", waits);
  add_retrying(store, **snapshot, shown);
}

void list_instances(EngineCore& core, const Call& call) {
  InstanceFilter filter;
  filter.definition = std::string(call.request.query_value("definition"));
  filter.reference_key = std::string(call.request.query_value("reference"));
  if (const std::string_view status = call.request.query_value("status"); !status.empty()) {
    if (const auto read = read_status(status, filter); !read) {
      call.reply(problem(400, "status", "Unknown status", read.error().message));
      return;
    }
  }
  filter.version = std::string(call.request.query_value("version"));
  filter.text = std::string(call.request.query_value("q"));
  if (const std::string_view parent = call.request.query_value("parent"); !parent.empty()) {
    filter.parent = InstanceId{std::string(parent)};
  }
  for (const auto& [name, value] : call.request.query) {
    if (name != "part") continue;
    const std::size_t colon = value.find(':');
    if (colon == std::string::npos || colon == 0) {
      call.reply(problem(400, "part", "Invalid reference part", "use part=NAME:VALUE, for example part=customer:C1"));
      return;
    }
    filter.reference_parts.emplace_back(value.substr(0, colon), value.substr(colon + 1));
  }
  if (const auto read = read_filter(call.request.query_value("filter"), filter); !read) {
    call.reply(problem(400, "filter", "The filter cannot be read", read.error().message));
    return;
  }
  if (const auto fits = check_search(filter.text, core.context().options.limits); !fits) {
    call.reply(problem(fits.error()));
    return;
  }
  for (const auto& [name, field] : {std::pair{"from", &filter.started_from}, std::pair{"to", &filter.started_to}}) {
    const std::string_view text = call.request.query_value(name);
    if (text.empty()) continue;
    const auto at = time_of(text);
    if (!at) {
      call.reply(problem(400, "time", "Invalid time", at.error().message));
      return;
    }
    *field = *at;
  }
  InstanceSearch search(core.store());
  const auto fetch = [&](const PageRequest& page) { return search.list(filter, page); };
  const bool with_waits = call.request.query_value("with") == "waits";
  call.reply(page_answer(call, fetch, [&core, with_waits](const InstanceRow& row) {
    Json shown = document(row);
    if (with_waits && !is_final(row.status)) add_waits(core.store(), row.id, shown);
    return shown;
  }));
}

// What the engine resumes from, for troubleshooting.
void snapshot(EngineCore& core, const Call& call) {
  const auto found = core.store().find_snapshot(id_of(call));
  if (!found || !*found) {
    call.reply(found ? problem({ErrorCode::not_found, "no instance " + std::string(call.at("id"))})
                     : problem(found.error()));
    return;
  }
  Response response = json_response(document(**found));
  response.headers.emplace_back("etag", "\"" + std::to_string((*found)->state_version) + "\"");
  call.reply(std::move(response));
}

void history(EngineCore& core, const Call& call) {
  const auto fetch = [&](const PageRequest& page) { return core.store().history(id_of(call), page); };
  call.reply(page_answer(call, fetch, [](const HistoryRow& row) { return document(row); }));
}

}  // namespace

std::vector<Route> instance_view_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"GET",
       "/v1/instances",
       Permission::view,
       "listInstances",
       "List instances, newest first",
       [with](const Call& call) { list_instances(*with, call); },
       {{"status", "one status, or retrying: a step has failed and is retried"},
        {"definition", "a name"},
        {"version", "of the definition"},
        {"reference", "a reference key"},
        {"part", "NAME:VALUE, a part of the reference (repeatable)"},
        {"parent", "children of this instance"},
        {"q", "text in the id, the definition or the reference"},
        {"filter", "status:suspended part.customer:C1 …, the same language as on the command line"},
        {"from", "started at or after"},
        {"to", "started before"},
        {"with", "waits: also what each instance waits for, and which step is retried"},
        {"limit", "maximum number of items"},
        {"cursor", "next_cursor of the previous page"}}},
      {"GET",
       "/v1/instances/{id}/history",
       Permission::view,
       "getHistory",
       "The history of an instance, oldest first",
       [with](const Call& call) { history(*with, call); },
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"GET", "/v1/instances/{id}/snapshot", Permission::view, "getSnapshot",
       "The snapshot that the engine resumes from", [with](const Call& call) { snapshot(*with, call); }},
  };
}

}  // namespace cairn::api
