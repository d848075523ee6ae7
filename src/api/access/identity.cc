#include "api/access/identity.h"

#include <algorithm>

namespace cairn::api {

const char* to_string(Permission permission) {
  switch (permission) {
    case Permission::undeclared: return "undeclared";
    case Permission::open: return "open";
    case Permission::view: return "view";
    case Permission::start: return "start";
    case Permission::work_tasks: return "work_tasks";
    case Permission::work_runs: return "work_runs";
    case Permission::operate: return "operate";
    case Permission::deploy: return "deploy";
    case Permission::administer: return "administer";
    case Permission::view_tasks: return "view_tasks";
    case Permission::report_runs: return "report_runs";
    case Permission::manage_tasks: return "tasks.manage";
    case Permission::signed_in: return "signed_in";
    case Permission::signed_request: return "signed_request";
  }
  return "undeclared";
}

const char* to_string(Role role) {
  switch (role) {
    case Role::viewer: return "viewer";
    case Role::task_worker: return "task_worker";
    case Role::starter: return "starter";
    case Role::worker: return "worker";
    case Role::operations: return "operator";
    case Role::deployer: return "deployer";
    case Role::admin: return "admin";
  }
  return "viewer";
}

std::optional<Role> role_from(std::string_view text) {
  for (const Role role : all_roles) {
    if (text == to_string(role)) return role;
  }
  return std::nullopt;
}

bool allows(Role role, Permission permission) {
  switch (permission) {
    case Permission::undeclared:
    case Permission::signed_request: return false;
    case Permission::open:
    case Permission::signed_in: return true;
    case Permission::view:
      return role == Role::viewer || role == Role::starter || role == Role::operations || role == Role::deployer ||
             role == Role::admin;
    case Permission::view_tasks:
      return role == Role::viewer || role == Role::task_worker || role == Role::operations || role == Role::admin;
    case Permission::start: return role == Role::starter || role == Role::operations || role == Role::admin;
    case Permission::work_tasks: return role == Role::task_worker || role == Role::operations || role == Role::admin;
    case Permission::work_runs: return role == Role::worker || role == Role::admin;
    case Permission::report_runs: return role == Role::worker || role == Role::operations || role == Role::admin;
    case Permission::manage_tasks:
    case Permission::operate: return role == Role::operations || role == Role::admin;
    case Permission::deploy: return role == Role::deployer || role == Role::admin;
    case Permission::administer: return role == Role::admin;
  }
  return false;
}

bool Identity::may(Permission permission) const {
  return permission == Permission::open ||
         std::any_of(roles.begin(), roles.end(), [permission](Role role) { return allows(role, permission); });
}

bool Identity::may_use(std::string_view path) const {
  return !paths || std::any_of(paths->begin(), paths->end(), [path](const std::string& own) {
    return path.starts_with(own) && (path.size() == own.size() || path[own.size()] == '/');
  });
}

bool Identity::may_work_on(std::string_view prefix) const {
  return !prefixes || std::any_of(prefixes->begin(), prefixes->end(),
                                  [prefix](const std::string& own) { return prefix.starts_with(own); });
}

}  // namespace cairn::api
