#include "runs/run_types.h"

#include "base/duration_max.h"
#include "base/log.h"
#include "base/sha256.h"
#include "store/store_calls.h"

namespace cairn {

namespace {

constexpr std::size_t key_bytes_max = 200;

Result<expr::Expression> compile_key(const std::string& text) {
  expr::Environment environment;
  environment.variables.push_back({"payload"});
  auto compiled = expr::compile(text, environment);
  if (!compiled) {
    const std::string& why = compiled.error().front().message;
    return Error{ErrorCode::invalid, "limit_key: " + why, {{"/limit_key", why}}};
  }
  return std::move(*compiled);
}

}  // namespace

Result<void> RunTypes::put(const RunTypeRow& row) {
  if (row.lease && (*row.lease < Duration::of_ms(100) || *row.lease > Duration::of_seconds(86'400))) {
    const char* const why = "must be from 100ms to 1d";
    return Error{ErrorCode::invalid, std::string("lease: ") + why, {{"/lease", why}}};
  }
  for (const auto& [name, length] : {std::pair{"backoff", row.backoff}, std::pair{"cap", row.cap},
                                     std::pair{"rate_window", std::optional<Duration>(row.rate_window)}}) {
    if (length && (length->negative() || *length > duration_max)) {
      const std::string why = std::string("must be at most ") + duration_max_text;
      return Error{ErrorCode::invalid, name + (": " + why), {{std::string("/") + name, why}}};
    }
  }
  if (!row.limit_key.empty()) {
    if (auto compiled = compile_key(row.limit_key); !compiled) return std::move(compiled).error();
  }
  CAIRN_TRY_VOID(store_.put_run_type(row));
  const std::lock_guard lock(mutex_);
  read_ = false;
  ++changes_;
  return {};
}

Result<bool> RunTypes::remove(const std::string& type) {
  CAIRN_TRY(const bool removed, store_.remove_run_type(type));
  const std::lock_guard lock(mutex_);
  read_ = false;
  ++changes_;
  return removed;
}

Result<void> RunTypes::refresh() {
  const Timestamp now = store_.now();
  std::map<std::string, Key> known;
  std::uint64_t changes = 0;
  {
    const std::lock_guard lock(mutex_);
    if (read_ && now >= read_at_ && between(read_at_, now) < age_max) return {};
    known = keys_;
    changes = changes_;
  }
  CAIRN_TRY_VOID(MemoryOnly::may_call_store());
  // Without the lock, so that no other thread waits for the disk.
  const auto rows = store_.list_run_types();
  if (!rows) {
    // The previous rows stay valid, and the next call tries again.
    log_error("run_types.read", rows.error());
    const std::lock_guard lock(mutex_);
    if (known_) return {};
    return rows.error();
  }
  std::map<std::string, Key> keys;
  for (const RunTypeRow& row : *rows) {
    if (row.limit_key.empty()) continue;
    const auto before = known.find(row.type);
    if (before != known.end() && before->second.text == row.limit_key) {
      keys.insert(*before);
      continue;
    }
    auto compiled = compile_key(row.limit_key);
    if (!compiled) {
      log_error("run_types.limit_key", compiled.error(), {{"type", row.type}});
      continue;
    }
    keys[row.type] = {row.limit_key, std::make_shared<const expr::Expression>(std::move(*compiled))};
  }
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
  read_ = changes == changes_;
  known_ = true;
  read_at_ = now;
  return {};
}

Result<std::shared_ptr<const expr::Expression>> RunTypes::find(const std::string& type) {
  CAIRN_TRY_VOID(refresh());
  const std::lock_guard lock(mutex_);
  const auto found = keys_.find(type);
  return found == keys_.end() ? std::shared_ptr<const expr::Expression>() : found->second.expression;
}

Result<std::string> RunTypes::limit_key(const std::string& type, const Json& payload) {
  CAIRN_TRY(const auto counted_by, find(type));
  return counted_by ? limit_key(*counted_by, payload) : std::string();
}

std::string RunTypes::limit_key(const expr::Expression& counted_by, const Json& payload) {
  const expr::Value bound[] = {expr::from_json(payload)};
  const auto value = counted_by.evaluate_json(bound);
  if (!value) return "!" + value.error().code;
  std::string key = value->is_string() ? std::string(value->as_string()) : write_json(*value);
  if (key.empty()) key = "\"\"";
  return key.size() <= key_bytes_max ? key : sha256_hex(key);
}

}  // namespace cairn
