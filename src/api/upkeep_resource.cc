// Checks of the whole store, for operators.
#include "api/api.h"
#include "api/problem.h"
#include "api/upkeep_reports.h"

namespace cairn::api {
namespace {

void verify_all(EngineCore& core, const Call& call) {
  const auto report = verify_report(core.store(), [&core] { return core.context().stops_soon.load(); });
  call.reply(report ? json_response(*report) : problem(report.error()));
}

void examine_store(EngineCore& core, const Call& call) {
  const auto report = doctor_report(core.store(), [&core] { return core.context().stops_soon.load(); });
  call.reply(report ? json_response(*report) : problem(report.error()));
}

}  // namespace

std::vector<Route> upkeep_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"GET", "/v1/verify", Permission::operate, "verifyStore", "Check every invariant of the store's contents",
       [with](const Call& call) { verify_all(*with, call); }},
      {"GET", "/v1/doctor", Permission::operate, "doctor", "A health report of the store, with advice for each finding",
       [with](const Call& call) { examine_store(*with, call); }},
  };
}

}  // namespace cairn::api
