#include "api/access/assignee_roles.h"

#include "api/access/api_key.h"

namespace cairn::api {
namespace {

// What a person may do: with each API key, and with the last token of each account.
Result<std::vector<Identity>> identities_of(AccessStore& store, const Identity& caller, const std::string& person) {
  std::vector<Identity> out;
  CAIRN_TRY(const auto keys, store.list_api_keys());
  for (const ApiKeyRow& key : keys) {
    auto identity = key.subject == person ? identity_of(key, store.now()) : std::nullopt;
    if (identity) out.push_back(std::move(*identity));
  }
  if (caller.keys_only) return out;
  CAIRN_TRY(const auto users, store.find_token_users(person));
  for (const TokenUserRow& user : users) out.push_back(identity_of(user));
  return out;
}

}  // namespace

Result<std::optional<std::vector<std::string>>> assignee_roles(AccessStore& store, const Identity& caller,
                                                               const std::string& person) {
  const std::optional<std::vector<std::string>> unchecked;
  // Without authentication no roles are checked.
  if (!caller.task_roles || person == caller.person) return unchecked;
  CAIRN_TRY(const auto identities, identities_of(store, caller, person));
  std::vector<std::string> roles;
  bool works = false;
  for (const Identity& identity : identities) {
    if (identity.may(Permission::manage_tasks)) return unchecked;
    if (!identity.may(Permission::work_tasks)) continue;
    works = true;
    roles.insert(roles.end(), identity.task_roles->begin(), identity.task_roles->end());
  }
  if (works) return std::optional(std::move(roles));
  if (!identities.empty()) return Error{ErrorCode::not_allowed, person + " has no credential that may work on tasks"};
  if (caller.keys_only) return Error{ErrorCode::not_allowed, person + " has no API key"};
  return unchecked;
}

}  // namespace cairn::api
