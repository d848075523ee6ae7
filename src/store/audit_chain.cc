#include "store/audit_chain.h"

#include "base/sha256.h"

namespace cairn {

std::string hashed_part(const AuditRow& row) {
  std::string text =
      write_json(Json::array({row.at.unix_ms(), row.who, row.what, row.resource, row.why, row.from, row.details}));
  return text.substr(1, text.size() - 2);
}

std::string audit_hash(const AuditRow& row) {
  return sha256_hex("[" + std::to_string(row.sequence) + "," + hashed_part(row) + ",\"" + row.previous_hash + "\"]");
}

AuditRow chained(AuditRow row, const std::optional<AuditRow>& last, Timestamp at) {
  row.sequence = last ? last->sequence + 1 : 1;
  row.at = at;
  row.previous_hash = last ? last->hash : "";
  row.hash = audit_hash(row);
  return row;
}

Result<AuditReport> verify_audit(Store& store, const std::string& known_hash) {
  AuditReport report;
  bool known = known_hash.empty();
  PageRequest page{1000, ""};
  do {
    CAIRN_TRY(const Page<AuditRow> rows, store.list_audit(page));
    for (const AuditRow& row : rows.items) {
      if (row.sequence != report.rows + 1) {
        report.why = "row " + std::to_string(report.rows + 1) + " is missing";
      } else if (row.previous_hash != report.last_hash) {
        report.why = "it does not follow the row before";
      } else if (row.hash != audit_hash(row)) {
        report.why = "its contents do not match its hash";
      }
      if (!report.why.empty()) {
        report.broken_at = row.sequence;
        return report;
      }
      report.rows = row.sequence;
      report.last_hash = row.hash;
      known = known || row.hash == known_hash;
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  if (!known) {
    report.broken_at = report.rows + 1;
    report.why = "the row with the hash that was kept is not there: the end was cut off or rewritten";
  }
  return report;
}

}  // namespace cairn
