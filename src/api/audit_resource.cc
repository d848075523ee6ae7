#include "api/api.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "store/audit_chain.h"

namespace cairn::api {
namespace {

void list_audit(EngineCore& core, const Call& call) {
  const auto fetch = [&](const PageRequest& page) { return core.store().list_audit(page); };
  call.reply(page_answer(call, fetch, audit_document));
}

void verify(EngineCore& core, const Call& call) {
  const auto report =
      verify_audit(core.store(), std::string(call.request.query_value("hash")), [&core] { return core.stops_soon(); });
  if (!report) {
    call.reply(problem(report.error()));
    return;
  }
  Json answer =
      Json::object({{"rows", report->rows}, {"last_hash", report->last_hash}, {"intact", !report->broken_at}});
  if (report->broken_at) {
    answer.set("broken_at", *report->broken_at);
    answer.set("why", report->why);
  }
  call.reply(json_response(answer));
}

}  // namespace

std::vector<Route> audit_routes(EngineCore& core) {
  EngineCore* const with = &core;
  return {
      {"GET",
       "/v1/audit",
       Permission::administer,
       "listAudit",
       "The audit trail, oldest first",
       [with](const Call& call) { list_audit(*with, call); },
       {{"limit", "maximum number of items"}, {"cursor", "next_cursor of the previous page"}}},
      {"GET",
       "/v1/audit/verify",
       Permission::administer,
       "verifyAudit",
       "Verify the audit trail",
       [with](const Call& call) { verify(*with, call); },
       {{"hash", "an earlier hash that the chain must contain"}}},
  };
}

}  // namespace cairn::api
