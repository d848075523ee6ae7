#include "api/access/api_key.h"

#include <openssl/rand.h>

#include "base/sha256.h"

namespace cairn::api {
namespace {

constexpr std::size_t id_bytes = 6;
constexpr std::size_t secret_bytes = 32;

Result<std::string> random_hex(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    return Error{ErrorCode::internal, "the system's random number generator failed"};
  }
  return to_hex(bytes);
}

std::optional<std::vector<std::string>> texts_if_list(const Json* list) {
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const Json& item : list->items()) {
    if (item.is_string()) out.emplace_back(item.as_string());
  }
  return out;
}

}  // namespace

Result<NewApiKey> new_api_key(std::string subject, std::vector<std::string> roles, Json scope, std::string note,
                              std::optional<Timestamp> expires_at) {
  if (subject.empty()) return Error{ErrorCode::invalid, "a key needs a subject: the person or program that uses it"};
  if (roles.empty()) return Error{ErrorCode::invalid, "a key needs at least one role"};
  for (const std::string& role : roles) {
    if (!role_from(role)) {
      return Error{ErrorCode::invalid, "unknown role \"" + role +
                                           "\"; use viewer, task_worker, starter, worker, operator, deployer or admin"};
    }
  }
  NewApiKey key;
  CAIRN_TRY(key.row.id, random_hex(id_bytes));
  CAIRN_TRY(const std::string secret, random_hex(secret_bytes));
  key.secret = "cairn_" + key.row.id + "_" + secret;
  key.row.secret_hash = api_key_hash(key.secret);
  key.row.subject = std::move(subject);
  key.row.roles = std::move(roles);
  key.row.scope = std::move(scope);
  key.row.note = std::move(note);
  key.row.expires_at = expires_at;
  return key;
}

Result<std::string> new_secret() { return random_hex(secret_bytes); }

std::string api_key_hash(std::string_view secret) { return sha256_hex(secret); }

bool is_api_key(std::string_view text) {
  return text.starts_with("cairn_") && text.size() == 6 + 2 * id_bytes + 1 + 2 * secret_bytes;
}

bool is_session(const ApiKeyRow& row) { return row.scope.is_object() && row.scope.find("session") != nullptr; }

std::optional<Identity> identity_of(const ApiKeyRow& row, Timestamp now) {
  if (is_session(row) || row.revoked_at || (row.expires_at && *row.expires_at <= now)) return std::nullopt;
  Identity identity;
  identity.account = "key:" + row.id;
  identity.person = row.subject;
  for (const std::string& name : row.roles) {
    if (const auto role = role_from(name)) identity.roles.push_back(*role);
  }
  identity.task_roles = texts_if_list(row.scope.is_object() ? row.scope.find("task_roles") : nullptr);
  if (!identity.task_roles) identity.task_roles.emplace();
  identity.prefixes = texts_if_list(row.scope.is_object() ? row.scope.find("prefixes") : nullptr);
  // A missing prefix list must not mean "no limit", except for an admin.
  if (!identity.prefixes && !identity.may(Permission::administer)) identity.prefixes.emplace();
  return identity;
}

Identity identity_of(const TokenUserRow& row) {
  Identity identity;
  identity.account = row.account;
  identity.person = row.person;
  for (const std::string& name : row.roles) {
    if (const auto role = role_from(name)) identity.roles.push_back(*role);
  }
  identity.task_roles = row.task_roles;
  identity.prefixes.emplace();
  return identity;
}

Json document(const ApiKeyRow& row) {
  Json roles = Json::array();
  for (const std::string& role : row.roles) roles.push_back(role);
  Json json = Json::object({{"id", row.id},
                            {"subject", row.subject},
                            {"roles", roles},
                            {"scope", row.scope},
                            {"note", row.note},
                            {"created_at", format_timestamp(row.created_at)}});
  if (row.expires_at) json.set("expires_at", format_timestamp(*row.expires_at));
  if (row.revoked_at) json.set("revoked_at", format_timestamp(*row.revoked_at));
  return json;
}

}  // namespace cairn::api
