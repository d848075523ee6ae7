// Who calls, and what they may do. An account (a key, a token's subject) is how somebody came in; the
// person is who they are, and task checks ask for the person.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cairn::server {

// Who may call a route. `undeclared` is what a forgotten declaration is, and does not start.
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
  report_runs,     // what the holder of a lease does with its run; an operator may too
  manage_tasks,    // of tasks, not of routes: every task, and taking one from its assignee
  signed_request,  // by its signature, not by a role: `Route::identify` says who it is
};
const char* to_string(Permission permission);

enum class Role { viewer, task_worker, starter, worker, operations, deployer, admin };
inline constexpr Role all_roles[] = {Role::viewer,     Role::task_worker, Role::starter, Role::worker,
                                     Role::operations, Role::deployer,    Role::admin};
const char* to_string(Role role);  // viewer, task_worker, starter, worker, operator, deployer, admin
std::optional<Role> role_from(std::string_view text);

// The one table of what each role may do.
bool allows(Role role, Permission permission);

struct Identity {
  std::string account = "anonymous";  // key:ID, or the token's issuer and subject
  std::string person = "anonymous";
  std::vector<Role> roles;
  // Candidate roles of human tasks that the person has. Absent: they are not checked.
  std::optional<std::vector<std::string>> task_roles;
  // Everybody whom this server knows has an API key: it takes no tokens.
  bool keys_only = false;
  // What a worker may lease: types that begin with one of these. Absent: every type.
  std::optional<std::vector<std::string>> prefixes;

  // False: the server asks for no credential, and the caller gave no name either.
  bool is_named() const { return account != "anonymous"; }
  bool may(Permission permission) const;
  // Whether every type that begins with `prefix` may be worked on.
  bool may_work_on(std::string_view prefix) const;
};

// Who sends a request, and when that was found out.
struct KnownCaller {
  Identity identity;
  std::chrono::steady_clock::time_point at;
};

}  // namespace cairn::server
