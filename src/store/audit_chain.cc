#include "store/audit_chain.h"

#include <algorithm>
#include <cmath>

#include "base/sha256.h"
#include "base/storable_text.h"
#include "base/utf8.h"
#include "store/stored_json.h"

namespace cairn {

std::string hashed_part(const AuditRow& row) {
  std::string text =
      write_json(Json::array({row.at.unix_ms(), row.who, row.what, row.resource, row.why, row.from, row.details}));
  return text.substr(1, text.size() - 2);
}

std::string audit_hash(const AuditRow& row) {
  return sha256_hex("[" + std::to_string(row.sequence) + "," + hashed_part(row) + ",\"" + row.previous_hash + "\"]");
}

namespace {

constexpr std::size_t text_bytes_max = 4u << 10;
// A checkpoint names a row that was near the end when it was signed. Other nodes may have appended rows since.
constexpr std::size_t recent_entries_max = 100'000;

bool is_storable_text(std::string_view text) {
  return text.size() <= text_bytes_max && text.find('\0') == std::string_view::npos && is_utf8(text);
}

bool is_storable_value(const Json& value, int depth_left = 8) {
  switch (value.kind()) {
    case Json::Kind::null:
    case Json::Kind::boolean:
    case Json::Kind::integer: return true;
    case Json::Kind::number: return std::isfinite(value.as_double());
    case Json::Kind::string: return is_storable_text(value.as_string());
    case Json::Kind::array:
    case Json::Kind::object: break;
  }
  if (depth_left == 0) return false;
  if (value.is_array()) {
    return std::all_of(value.items().begin(), value.items().end(),
                       [&](const Json& item) { return is_storable_value(item, depth_left - 1); });
  }
  return std::all_of(value.members().begin(), value.members().end(), [&](const Json::Member& member) {
    return is_storable_text(member.key) && is_storable_value(member.value, depth_left - 1);
  });
}

std::string storable_text(const std::string& text) {
  return is_storable_text(text) ? text : cairn::storable_text(text, text_bytes_max);
}

// The text that a checkpoint's signature covers.
std::string signed_text(std::int64_t sequence, std::string_view hash, std::string_view at) {
  return "cairn audit checkpoint 1\n" + std::to_string(sequence) + "\n" + std::string(hash) + "\n" + std::string(at) +
         "\n";
}

}  // namespace

bool is_storable(const AuditRow& row) {
  return is_storable_text(row.who) && is_storable_text(row.what) && is_storable_text(row.resource) &&
         is_storable_text(row.why) && is_storable_text(row.from) && is_storable_value(row.details);
}

AuditRow storable(AuditRow row) {
  if (is_storable(row)) return row;
  for (std::string* const text : {&row.who, &row.what, &row.resource, &row.why, &row.from}) {
    *text = storable_text(*text);
  }
  if (!is_storable_value(row.details)) {
    row.details = Json::object({{"unreadable", storable_text(write_json(row.details))}});
  }
  return row;
}

AuditRow chained(AuditRow row, const std::optional<AuditRow>& last, Timestamp at) {
  row = storable(std::move(row));
  row.sequence = last ? last->sequence + 1 : 1;
  row.at = at;
  row.previous_hash = last ? last->hash : "";
  row.hash = audit_hash(row);
  return row;
}

std::string AuditCheck::fault_of(const AuditRow& row) {
  if (row.sequence != report_.rows + 1) return "row " + std::to_string(report_.rows + 1) + " is missing";
  if (row.previous_hash != report_.last_hash) return "it does not follow the row before";
  if (row.hash != audit_hash(row)) return "its contents do not match its hash";
  return key_ && row.what == checkpoint_operation ? fault_of_checkpoint(row) : std::string();
}

std::string AuditCheck::fault_of_checkpoint(const AuditRow& row) {
  const Json& sequence = row.details["sequence"];
  const std::string hash(row.details.text_or("hash", ""));
  const std::string at(row.details.text_or("at", ""));
  const auto signature = from_hex(row.details.text_or("signature", ""));
  if (!sequence.is_integer() || !signature || !key_->verify(signed_text(sequence.as_integer(), hash, at), *signature)) {
    return "the checkpoint is not signed by this key";
  }
  const auto named = recent_.find(sequence.as_integer());
  if (named == recent_.end() || named->second != hash) {
    return "the checkpoint vouches for another chain: row " + std::to_string(sequence.as_integer()) +
           " has another hash";
  }
  ++report_.checkpoints;
  report_.signed_rows = std::max(report_.signed_rows, sequence.as_integer());
  if (const auto time = parse_timestamp(at)) report_.last_checkpoint = *time;
  return {};
}

bool AuditCheck::add(const AuditRow& row) {
  if (report_.broken_at) return false;
  report_.why = fault_of(row);
  if (!report_.why.empty()) {
    report_.broken_at = row.sequence;
    return false;
  }
  report_.rows = row.sequence;
  report_.last_hash = row.hash;
  known_ = known_ || row.hash == known_hash_;
  if (key_) {
    recent_[row.sequence] = row.hash;
    if (recent_.size() > recent_entries_max) recent_.erase(recent_.begin());
  }
  return true;
}

AuditReport AuditCheck::finish() {
  if (report_.broken_at) return report_;
  if (!known_ && !known_hash_.empty()) {
    report_.broken_at = report_.rows + 1;
    report_.why = "the row with the hash that was kept is not there: the end was cut off or rewritten";
  } else if (key_ && report_.checkpoints == 0) {
    report_.broken_at = report_.rows + 1;
    report_.why = "there is no checkpoint: nothing is signed by this key";
  }
  return report_;
}

Result<AuditReport> verify_audit(Store& store, const std::string& known_hash, const std::function<bool()>& stop) {
  AuditCheck check(known_hash);
  PageRequest page{1000, ""};
  do {
    if (stop && stop()) {
      return Error{ErrorCode::unavailable, "the server stops before the audit trail is checked; ask again"};
    }
    CAIRN_TRY(const Page<AuditRow> rows, store.list_audit(page));
    for (const AuditRow& row : rows.items) {
      if (!check.add(row)) return check.finish();
    }
    page.cursor = rows.next_cursor;
  } while (!page.cursor.empty());
  return check.finish();
}

AuditRow checkpoint_row(std::int64_t sequence, const std::string& hash, const std::string& node, Timestamp at,
                        const Ed25519PrivateKey& key) {
  const std::string time = format_timestamp(at);
  AuditRow row;
  row.who = node;
  row.what = std::string(checkpoint_operation);
  row.resource = "/v1/audit";
  row.details = Json::object({{"sequence", sequence},
                              {"hash", hash},
                              {"at", time},
                              {"key", key.public_key().fingerprint()},
                              {"signature", to_hex(key.sign(signed_text(sequence, hash, time)))}});
  return row;
}

Json audit_details(std::string_view stored) {
  auto details = parse_stored(stored);
  if (details) return std::move(*details);
  return Json::object({{"unreadable", storable_text(std::string(stored))}});
}

Json audit_document(const AuditRow& given) {
  const AuditRow row = storable(given);  // rows of older versions may contain any bytes
  return Json::object({{"sequence", row.sequence},
                       {"at", format_timestamp(row.at)},
                       {"who", row.who},
                       {"what", row.what},
                       {"resource", row.resource},
                       {"why", row.why},
                       {"from", row.from},
                       {"details", row.details},
                       {"previous_hash", row.previous_hash},
                       {"hash", row.hash}});
}

Result<AuditRow> audit_row_from(const Json& document) {
  const Error invalid{ErrorCode::invalid, "this is not a row of the audit trail"};
  if (!document.is_object() || !document["sequence"].is_integer()) return invalid;
  const auto at = parse_timestamp(document.text_or("at", ""));
  if (!at) return invalid;
  AuditRow row;
  row.sequence = document["sequence"].as_integer();
  row.at = *at;
  row.who = document.text_or("who", "");
  row.what = document.text_or("what", "");
  row.resource = document.text_or("resource", "");
  row.why = document.text_or("why", "");
  row.from = document.text_or("from", "");
  row.details = document["details"];
  row.previous_hash = document.text_or("previous_hash", "");
  row.hash = document.text_or("hash", "");
  return row;
}

}  // namespace cairn
