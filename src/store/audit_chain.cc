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

// The text that the signature of an export covers.
std::string signed_text(const AuditSeal& seal) {
  return "cairn audit export 1\n" + std::to_string(seal.from) + "\n" + seal.previous_hash + "\n" +
         std::to_string(seal.through) + "\n" + seal.hash + "\n" + seal.at + "\n";
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
  if (row.sequence != last_ + 1) return "row " + std::to_string(last_ + 1) + " is missing";
  if (row.previous_hash != report_.last_hash) return "it does not follow the row before";
  if (row.hash != audit_hash(row)) return "its contents do not match its hash";
  if (row.what == export_operation) return fault_of_export(row);
  return key_ && row.what == checkpoint_operation ? fault_of_checkpoint(row) : std::string();
}

bool AuditCheck::has_hash(std::int64_t sequence, const std::string& hash, bool otherwise) const {
  if (sequence < *removed_) return true;  // an export has it
  if (sequence == *removed_) return hash == removed_hash_;
  const auto named = recent_.find(sequence);
  return named == recent_.end() ? otherwise : named->second == hash;
}

bool AuditCheck::is_repeat(const AuditRow& row) const {
  const auto known = recent_.find(row.sequence);
  return known != recent_.end() && known->second == row.hash && row.hash == audit_hash(row);
}

void AuditCheck::count_signed(std::int64_t sequence, const std::string& at) {
  ++report_.checkpoints;
  report_.signed_rows = std::max(report_.signed_rows, sequence);
  if (const auto time = parse_timestamp(at)) report_.last_checkpoint = *time;
}

std::string AuditCheck::fault_of_export(const AuditRow& row) {
  auto seal = seal_from(row.details);
  if (!seal || seal->through >= row.sequence) return "it is not a valid export";
  return fault_of(*seal);
}

// The row of an export is appended long after the rows that it names, so these are not remembered any more.
std::string AuditCheck::fault_of(const AuditSeal& seal) {
  if (key_) {
    const auto signature = from_hex(seal.signature);
    if (!signature || !key_->verify(signed_text(seal), *signature)) return "the export is not signed by this key";
  }
  for (const auto& [row, hash] : {std::pair{seal.through, seal.hash}, std::pair{seal.from - 1, seal.previous_hash}}) {
    if (has_hash(row, hash, true)) continue;
    return "the export vouches for another chain: row " + std::to_string(row) + " has another hash";
  }
  vouched_ = vouched_ || seal.through >= *removed_;
  if (key_) count_signed(seal.through, seal.at);
  return {};
}

std::string AuditCheck::fault_of_checkpoint(const AuditRow& row) {
  const Json& sequence = row.details["sequence"];
  const std::string hash(row.details.text_or("hash", ""));
  const std::string at(row.details.text_or("at", ""));
  const auto signature = from_hex(row.details.text_or("signature", ""));
  if (!sequence.is_integer() || !signature || !key_->verify(signed_text(sequence.as_integer(), hash, at), *signature)) {
    return "the checkpoint is not signed by this key";
  }
  if (!has_hash(sequence.as_integer(), hash, false)) {
    return "the checkpoint vouches for another chain: row " + std::to_string(sequence.as_integer()) +
           " has another hash";
  }
  count_signed(sequence.as_integer(), at);
  return {};
}

bool AuditCheck::fail(std::int64_t row, std::string why) {
  report_.broken_at = row;
  report_.why = std::move(why);
  return false;
}

bool AuditCheck::add(const AuditRow& row) {
  if (report_.broken_at) return false;
  if (!removed_) {
    const bool later = row.sequence > 1;
    removed_ = last_ = later ? row.sequence - 1 : 0;
    report_.first_row = last_ + 1;
    if (later) {
      report_.last_hash = removed_hash_ = row.previous_hash;
      known_ = row.previous_hash == known_hash_;
    }
  }
  if (is_repeat(row)) return true;
  if (std::string why = fault_of(row); !why.empty()) return fail(row.sequence, std::move(why));
  ++report_.rows;
  last_ = row.sequence;
  report_.last_hash = row.hash;
  known_ = known_ || row.hash == known_hash_;
  recent_[row.sequence] = row.hash;
  if (recent_.size() > recent_entries_max) recent_.erase(recent_.begin());
  return true;
}

bool AuditCheck::add(const AuditSeal& seal) {
  if (report_.broken_at) return false;
  if (!removed_ || seal.through != last_) return fail(last_ + 1, "the export does not end at its seal");
  if (seal.from <= *removed_) return fail(seal.from, "row " + std::to_string(seal.from) + " is missing");
  if (std::string why = fault_of(seal); !why.empty()) return fail(last_, std::move(why));
  return true;
}

AuditReport AuditCheck::finish() {
  if (report_.broken_at) return report_;
  if (removed_.value_or(0) > 0 && !vouched_) {
    fail(report_.first_row, "the rows before it are missing, and no export has them");
  } else if (!known_ && !known_hash_.empty()) {
    fail(last_ + 1, report_.first_row > 1
                        ? "the row with the hash that was kept is not there: it is in an earlier export, or the end "
                          "was cut off or rewritten"
                        : "the row with the hash that was kept is not there: the end was cut off or rewritten");
  } else if (key_ && report_.checkpoints == 0) {
    fail(last_ + 1, "there is no checkpoint: nothing is signed by this key");
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

AuditSeal sealed(const AuditRow& first, const AuditRow& last, Timestamp at, const Ed25519PrivateKey& key) {
  AuditSeal seal{first.sequence, first.previous_hash,  last.sequence,
                 last.hash,      format_timestamp(at), key.public_key().fingerprint(),
                 std::string()};
  seal.signature = to_hex(key.sign(signed_text(seal)));
  return seal;
}

Json seal_document(const AuditSeal& seal) {
  return Json::object({{"from", seal.from},
                       {"previous_hash", seal.previous_hash},
                       {"through", seal.through},
                       {"hash", seal.hash},
                       {"at", seal.at},
                       {"key", seal.key},
                       {"signature", seal.signature}});
}

Result<AuditSeal> seal_from(const Json& document) {
  if (!document.is_object() || !document["from"].is_integer() || !document["through"].is_integer()) {
    return Error{ErrorCode::invalid, "this is not the seal of an export of the audit trail"};
  }
  const auto text = [&](const char* name) { return std::string(document.text_or(name, "")); };
  return AuditSeal{document["from"].as_integer(),
                   text("previous_hash"),
                   document["through"].as_integer(),
                   text("hash"),
                   text("at"),
                   text("key"),
                   text("signature")};
}

Json seal_line(const AuditSeal& seal) { return Json::object({{"export", seal_document(seal)}}); }

AuditRow export_row(const AuditSeal& seal, const std::string& file, const std::string& node) {
  AuditRow row;
  row.who = node;
  row.what = std::string(export_operation);
  row.resource = "/v1/audit";
  row.why = "retention removes the rows that the file has";
  row.details = seal_document(seal);
  row.details.set("file", file);
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
