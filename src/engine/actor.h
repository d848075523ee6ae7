// The caller of a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cairn {

struct Actor {
  std::string name = "operator";
  // Roles in human tasks. Absent: they are not checked (the operator, the command line).
  std::optional<std::vector<std::string>> roles = {};
  bool manages_tasks = false;  // the permission tasks.manage: every task, whatever its roles
  // Idempotency keys and signal ids belong to their sender: two senders may use the same one independently. Empty: the
  // host program itself.
  std::string sender = {};
};

}  // namespace cairn
