#include "api/upkeep_reports.h"

#include "api/access/api_key.h"
#include "store/audit_chain.h"
#include "upkeep/verify.h"

namespace cairn::api {
namespace {

struct HealthFinding {
  enum class Grade { fine, look, broken };
  Grade grade = Grade::fine;
  std::string what;
  std::string advice;  // empty if no action is needed
};

const char* to_string(HealthFinding::Grade grade) {
  switch (grade) {
    case HealthFinding::Grade::fine: return "ok";
    case HealthFinding::Grade::look: return "look";
    case HealthFinding::Grade::broken: return "BROKEN";
  }
  return "ok";
}

HealthFinding unreadable(const std::string& what, const Error& error) {
  return {HealthFinding::Grade::broken, what + " cannot be read: " + error.message,
          "copy the store, then run `cairn verify`"};
}

std::string counted(std::size_t count, bool more, std::string_view noun) {
  if (count == 1 && !more) noun.remove_suffix(1);  // singular: one task
  return (more ? "more than " : "") + std::to_string(count) + " " + std::string(noun);
}

std::vector<HealthFinding> examine(Store& store, const std::function<bool()>& stop) {
  std::vector<HealthFinding> findings;
  if (const auto schema = store.schema_version()) {
    findings.push_back({HealthFinding::Grade::fine, "the store answers, schema " + std::to_string(*schema), ""});
  } else {
    findings.push_back(unreadable("the schema", schema.error()));
    return findings;
  }
  if (const auto report = verify_store(store, stop); !report) {
    findings.push_back(unreadable("the store", report.error()));
  } else if (report->findings.empty()) {
    findings.push_back({HealthFinding::Grade::fine,
                        "every invariant holds (" + counted(report->instances, false, "instances") + ")", ""});
  } else {
    findings.push_back({HealthFinding::Grade::broken,
                        std::to_string(report->findings.size()) + " invariants are broken",
                        "run `cairn verify` to list them"});
  }
  if (const auto settings = store.setting_advice(); !settings) {
    findings.push_back(unreadable("the settings of the database", settings.error()));
  } else {
    for (const SettingAdvice& one : *settings) findings.push_back({HealthFinding::Grade::look, one.what, one.advice});
  }
  constexpr std::size_t enough = 1000;
  InstanceFilter suspended;
  suspended.status = Status::suspended;
  if (const auto rows = store.list_instances(suspended, {enough, ""}); rows && !rows->items.empty()) {
    findings.push_back({HealthFinding::Grade::look,
                        counted(rows->items.size(), !rows->next_cursor.empty(), "suspended instances"),
                        "`cairn list --status suspended`, `cairn why ID`, then retry, skip, edit or cancel"});
  }
  if (const auto letters = store.list_dead_letters({enough, ""}); letters && !letters->items.empty()) {
    findings.push_back({HealthFinding::Grade::look,
                        counted(letters->items.size(), !letters->next_cursor.empty(), "dead letters"),
                        "`cairn dead list`, then replay or discard them"});
  }
  TaskFilter overdue;
  overdue.due_before = store.now();
  if (const auto tasks = store.list_tasks(overdue, {enough, ""}); tasks && !tasks->items.empty()) {
    findings.push_back({HealthFinding::Grade::look,
                        counted(tasks->items.size(), !tasks->next_cursor.empty(), "overdue tasks"),
                        "`cairn tasks --overdue`, then reassign them"});
  }
  if (const auto due = store.next_due(); due && *due && between(**due, store.now()).ms_up() > 60'000) {
    findings.push_back({HealthFinding::Grade::look, "work has been due since " + format_timestamp(**due),
                        "is a server running on this store? `cairn serve` or `cairn dev`"});
  }
  if (const auto report = verify_audit(store, {}, stop); !report) {
    findings.push_back(unreadable("the audit trail", report.error()));
  } else if (report->broken_at) {
    findings.push_back({HealthFinding::Grade::broken,
                        "the audit trail is broken at row " + std::to_string(*report->broken_at) + ": " + report->why,
                        "the table was changed: compare it with a backup"});
  } else {
    findings.push_back(
        {HealthFinding::Grade::fine, "the audit trail is intact, " + std::to_string(report->rows) + " rows", ""});
  }
  if (const auto keys = store.list_api_keys()) {
    for (const ApiKeyRow& key : *keys) {
      const bool soon = !is_session(key) && key.expires_at && !key.revoked_at && *key.expires_at > store.now() &&
                        between(store.now(), *key.expires_at).ms_up() < 7LL * 86'400'000;
      if (soon) {
        findings.push_back(
            {HealthFinding::Grade::look,
             "the key " + key.id + " of " + key.subject + " expires " + format_timestamp(*key.expires_at),
             "create a new one with `cairn keys create` before that"});
      }
    }
  }
  return findings;
}

}  // namespace

Result<Json> verify_report(Store& store, const std::function<bool()>& stop) {
  CAIRN_TRY(const Verification report, verify_store(store, stop));
  Json findings = Json::array();
  for (const Finding& finding : report.findings) {
    findings.push_back(
        Json::object({{"invariant", finding.invariant}, {"subject", finding.subject}, {"message", finding.message}}));
  }
  return Json::object({{"findings", findings},
                       {"instances", static_cast<std::int64_t>(report.instances)},
                       {"tasks", static_cast<std::int64_t>(report.tasks)},
                       {"runs", static_cast<std::int64_t>(report.runs)}});
}

Result<Json> doctor_report(Store& store, const std::function<bool()>& stop) {
  const std::vector<HealthFinding> findings = examine(store, stop);
  if (stop && stop()) return Error{ErrorCode::unavailable, "the server stops before the store is examined; ask again"};
  Json list = Json::array();
  for (const HealthFinding& finding : findings) {
    list.push_back(
        Json::object({{"grade", to_string(finding.grade)}, {"what", finding.what}, {"advice", finding.advice}}));
  }
  return Json::object({{"findings", list}});
}

}  // namespace cairn::api
