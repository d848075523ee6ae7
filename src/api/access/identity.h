// The identity of a caller and its permissions. An account (a key, a token's subject) is how the caller logged in. The
// person is who the caller is, and task checks use the person.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::api {

// Who may call a route. `undeclared` is the default; the server refuses to start if a route has no permission.
enum class Permission {
  undeclared,
  open,
  view,
  start,
  work_tasks,
  work_runs,
  operate,
  deploy,
  administer,
  view_tasks,
  report_runs,     // actions of a lease holder on its run; operators may do them too
  manage_tasks,    // every task: taking one from its assignee, and making links to it
  signed_in,       // every caller with a credential, whatever its roles are
  signed_request,  // by signature, not by role: `Route::identify` returns the sender
};
const char* to_string(Permission permission);

enum class Role { viewer, task_worker, starter, worker, operations, deployer, admin };
inline constexpr Role all_roles[] = {Role::viewer,     Role::task_worker, Role::starter, Role::worker,
                                     Role::operations, Role::deployer,    Role::admin};
const char* to_string(Role role);  // viewer, task_worker, starter, worker, operator, deployer, admin
std::optional<Role> role_from(std::string_view text);

// The one table of what each role may do.
bool allows(Role role, Permission permission);

// The issuer's key that signed a token. A session with it ends when the issuer removes or replaces this key.
struct TokenKey {
  std::string id;
  std::string algorithm;
  std::string fingerprint;
};

struct Identity {
  std::string account = "anonymous";  // key:ID, or the token's issuer and subject
  std::string person = "anonymous";
  std::vector<Role> roles;
  // The person's candidate roles in human tasks. Empty optional: not checked.
  std::optional<std::vector<std::string>> task_roles;
  // This server accepts API keys only and no tokens.
  bool keys_only = false;
  // The types that a worker may lease: those that begin with one of these. Empty optional: every type.
  std::optional<std::vector<std::string>> prefixes;
  // The key of the ID token with which the caller signs in; only then.
  std::optional<TokenKey> token_key = {};
  // The paths below which the caller may do anything at all. Empty optional: every path.
  std::optional<std::vector<std::string>> paths = {};
  // The session that the caller uses; empty: none.
  std::string session = {};

  // False if the server requires no credential and the caller gave no name.
  bool is_named() const { return account != "anonymous"; }
  bool may(Permission permission) const;
  bool may_use(std::string_view path) const;
  // Whether the caller may work on every type that begins with `prefix`.
  bool may_work_on(std::string_view prefix) const;
};

}  // namespace cairn::api

namespace cairn::http {

// The sender of a request, and when it was identified. The HTTP server passes it on and does not read it.
struct KnownCaller {
  api::Identity identity;
  std::chrono::steady_clock::time_point at;
};

}  // namespace cairn::http
