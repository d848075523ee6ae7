#include "api/api.h"
#include "api/filter_text.h"
#include "api/page_answer.h"
#include "api/problem.h"
#include "store/audit_chain.h"

namespace cairn::api {
namespace {

struct AuditFilter {
  std::string who;  // a person or an account
  std::string what;
  std::string resource;  // a part of it
  std::optional<Timestamp> from;
  std::optional<Timestamp> to;

  bool takes(const AuditRow& row) const {
    return (who.empty() || row.who == who || row.details.text_or("account", "") == who) &&
           (what.empty() || row.what == what) && row.resource.find(resource) != std::string::npos &&
           (!from || row.at >= *from) && (!to || row.at < *to);
  }
};

Result<AuditFilter> audit_filter_of(const Call& call) {
  AuditFilter filter{std::string(call.request.query_value("who")), std::string(call.request.query_value("what")),
                     std::string(call.request.query_value("resource")), std::nullopt, std::nullopt};
  for (const auto& [name, member] : {std::pair{"from", &AuditFilter::from}, std::pair{"to", &AuditFilter::to}}) {
    const std::string_view text = call.request.query_value(name);
    if (text.empty()) continue;
    CAIRN_TRY(filter.*member, time_of(text));
  }
  return filter;
}

void list_audit(EngineCore& core, const Call& call) {
  const auto filter = audit_filter_of(call);
  if (!filter) return call.reply(problem(400, "time", "Invalid time", filter.error().message));
  // Reads on until a row matches, in growing portions. The page then continues after its last row.
  const auto fetch = [&](PageRequest page) -> Result<Page<AuditRow>> {
    constexpr std::size_t portion_max = 1'000;
    for (const std::size_t wanted = page.limit;;) {
      CAIRN_TRY(Page<AuditRow> rows, core.store().list_audit(page));
      const bool over = filter->to && !rows.items.empty() && rows.items.back().at >= *filter->to;
      std::erase_if(rows.items, [&](const AuditRow& row) { return !filter->takes(row); });
      if (over) rows.next_cursor.clear();  // they are in the order of their times
      if (rows.items.size() > wanted) {
        rows.items.resize(wanted);
        rows.next_cursor = std::to_string(rows.items.back().sequence);
      }
      if (!rows.items.empty() || !rows.unreadable.empty() || rows.next_cursor.empty()) return rows;
      if (core.context().stops_soon) return Error{ErrorCode::unavailable, "the server is shutting down"};
      page = {std::min(page.limit * 2, portion_max), rows.next_cursor};
    }
  };
  call.reply(page_answer(call, fetch, audit_document));
}

void verify(EngineCore& core, const Call& call) {
  const auto report = verify_audit(core.store(), std::string(call.request.query_value("hash")),
                                   [&core] { return core.context().stops_soon.load(); });
  if (!report) {
    call.reply(problem(report.error()));
    return;
  }
  Json answer = Json::object({{"rows", report->rows},
                              {"first_row", report->first_row},
                              {"last_hash", report->last_hash},
                              {"intact", !report->broken_at}});
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
       {{"who", "only of this person or account, such as ada or key:4f2a90c1d2e3"},
        {"what", "only this operation, such as cancelInstance"},
        {"resource", "only resources that contain this text, such as an id"},
        {"from", "at or after this time"},
        {"to", "before this time"},
        {"limit", "maximum number of items"},
        {"cursor", "next_cursor of the previous page"}}},
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
