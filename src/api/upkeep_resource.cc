// Checks of the whole store, for operators.
#include "api/api.h"
#include "api/problem.h"
#include "api/shared_report.h"
#include "api/upkeep_reports.h"

namespace cairn::api {
namespace {

using Report = Result<Json> (*)(Store& store, const std::function<bool()>& stop);

Route report_route(EngineCore& core, std::string_view path, std::string_view operation, std::string_view summary,
                   Report report) {
  const auto shared = std::make_shared<SharedReport>([&core, report] {
    const auto document = report(core.store(), [&core] { return core.context().stops_soon.load(); });
    return document ? json_response(*document) : problem(document.error());
  });
  return {"GET",     path,    Permission::operate,
          operation, summary, [shared](const Call& call) { shared->ask(call.reply); }};
}

}  // namespace

std::vector<Route> upkeep_routes(EngineCore& core) {
  return {
      report_route(core, "/v1/verify", "verifyStore", "Check every invariant of the store's contents", verify_report),
      report_route(core, "/v1/doctor", "doctor", "A health report of the store, with advice for each finding",
                   doctor_report),
  };
}

}  // namespace cairn::api
