#include "engine/run_key.h"

namespace cairn {

namespace {

constexpr const char* run_key_scope = "run";

}  // namespace

std::optional<IdempotencyKey> run_key(const std::string& request, const RunId& run, std::uint64_t lease,
                                      const char* outcome, std::string request_hash) {
  if (request.empty()) return std::nullopt;
  return IdempotencyKey{run_key_scope, request + " " + run.value + "/" + std::to_string(lease), std::move(request_hash),
                        Json::object({{"outcome", outcome}})};
}

std::string outcome_in(const Json& answer) { return std::string(answer.text_or("outcome", "")); }

Result<std::optional<std::string>> first_outcome(InstanceStore& store, const std::optional<IdempotencyKey>& key) {
  if (!key) return std::optional<std::string>();
  CAIRN_TRY(const auto known, store.find_key(key->scope, key->key));
  if (!known || known->request_hash != key->request_hash) return std::optional<std::string>();
  return std::optional(outcome_in(known->answer));
}

}  // namespace cairn
