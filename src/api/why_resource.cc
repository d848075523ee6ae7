#include "api/api.h"
#include "api/explain.h"
#include "api/problem.h"

namespace cairn::api {

std::vector<Route> why_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {{"GET", "/v1/instances/{id}/why", Permission::view, "explainInstance",
           "What an instance waits for, since when, and how to unblock it", [with](const Call& call) {
             const auto answer = explain(*with, {std::string(call.at("id"))});
             call.reply(answer ? json_response(*answer) : problem(answer.error()));
           }}};
}

}  // namespace cairn::api
