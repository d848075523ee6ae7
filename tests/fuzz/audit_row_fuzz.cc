// Any JSON as a row of the audit trail: a row made storable is read back the same from its document, and a changed row
// breaks the chain.
#include "base/utf8.h"
#include "input.h"
#include "store/audit_chain.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  AuditRow raw;
  raw.who = std::string(fuzzing::take_line(input));
  raw.why = std::string(input);
  raw.details = Json::object({{"text", input}});
  const AuditRow kept = storable(raw);
  CAIRN_ASSERT(is_storable(kept) && is_utf8(kept.who) && is_utf8(kept.why));
  CAIRN_ASSERT(parse_json(write_json(kept.details)).has_value());
  if (is_storable(raw)) CAIRN_ASSERT(kept == raw);
  const AuditRow first = chained(raw, std::nullopt, {1'700'000'000, 0});
  const auto back = audit_row_from(audit_document(first));
  CAIRN_ASSERT(back.has_value() && *back == first);
  AuditCheck check;
  CAIRN_ASSERT(check.add(first));
  AuditRow second = chained(raw, first, {1'700'000'001, 0});
  AuditCheck again = check;
  CAIRN_ASSERT(check.add(second));
  second.why += "x";
  CAIRN_ASSERT(!again.add(second));

  const auto json = parse_json(input);
  if (!json) return;
  const auto row = audit_row_from(*json);
  if (!row) return;
  const auto same = audit_row_from(audit_document(*row));
  CAIRN_ASSERT(same.has_value() && same->who == row->who && same->hash == row->hash && same->details == row->details);
}
