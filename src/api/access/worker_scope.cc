#include "api/access/worker_scope.h"

#include "api/problem.h"

namespace cairn::api {
namespace {

constexpr std::string_view reserved_prefix = "cairn.";

Response refusal(std::string_view type) {
  return problem(403, "forbidden", "Not allowed", "this credential may not work on runs of type " + std::string(type));
}

// Checks the type of an existing run. The operation reports an unknown run.
std::optional<Response> check_run(RunStore& store, const Call& call, std::string_view id) {
  const auto run = store.find_run({std::string(id)});
  if (!run) return problem(run.error());
  if (*run && !call.identity.may_work_on((*run)->type)) return refusal((*run)->type);
  return std::nullopt;
}

}  // namespace

bool is_reserved_type(std::string_view type) { return type.starts_with(reserved_prefix); }

bool reaches_reserved_types(std::string_view prefix) {
  return is_reserved_type(prefix) || reserved_prefix.starts_with(prefix);
}

std::optional<Response> outside_scope(RunStore& store, const Call& call) {
  const bool operates = call.identity.may(Permission::operate);
  if (!call.identity.prefixes) return std::nullopt;
  if (const std::string_view id = call.at("id"); !id.empty()) {
    return operates ? std::nullopt : check_run(store, call, id);
  }
  bool named = false;
  for (const char* const member : {"prefixes", "types"}) {
    const Json* list = call.body.is_object() ? call.body.find(member) : nullptr;
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& one : list->items()) {
      named = true;
      if (one.is_string() && !call.identity.may_work_on(one.as_string())) return refusal(one.as_string());
    }
  }
  // A batch names a run in each item.
  for (const char* const member : {"reports", "runs"}) {
    const Json* list = call.body.is_object() ? call.body.find(member) : nullptr;
    if (list == nullptr || !list->is_array()) continue;
    for (const Json& one : list->items()) {
      if (!one.is_object() || operates) continue;
      if (auto refused = check_run(store, call, one.text_or("id", ""))) return refused;
    }
    return std::nullopt;
  }
  // Without types a worker leases `default.`.
  if (!named && !call.identity.may_work_on("default.")) return refusal("default.");
  return std::nullopt;
}

}  // namespace cairn::api
