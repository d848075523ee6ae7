#include "engine/task_rights.h"

#include <algorithm>

#include "store/row_filters.h"

namespace cairn {
namespace {

bool manages(const TaskRow& task, const Actor& actor) {
  return !actor.roles || actor.manages_tasks || is_manager(task, *actor.roles);
}

Error not_allowed(std::string message) { return {ErrorCode::not_allowed, std::move(message)}; }

std::string listed(const std::vector<std::string>& roles) {
  std::string text;
  for (const std::string& role : roles) text += (text.empty() ? "" : ", ") + role;
  return text;
}

Error without_role(const TaskRow& task, const std::string& person) {
  return not_allowed(person + " has none of the roles of task " + task.id.value + ": " + listed(task.roles));
}

Error taken(const TaskRow& task) {
  return not_allowed("task " + task.id.value + " is assigned to " + task.assignee +
                     "; to take it from its assignee needs the permission tasks.manage");
}

bool is_anothers(const TaskRow& task, const Actor& actor) {
  return !task.assignee.empty() && task.assignee != actor.name;
}

std::optional<Error> refuse_assignee(const TaskRow& task, const std::string& person, const Actor& actor,
                                     const std::optional<std::vector<std::string>>& known_roles) {
  if (std::find(task.exclude.begin(), task.exclude.end(), person) != task.exclude.end()) {
    return not_allowed(person + " may not have task " + task.id.value + " (exclude)");
  }
  const auto& roles = person == actor.name ? actor.roles : known_roles;
  if (!roles || has_right(task, *roles)) return std::nullopt;
  if (person == actor.name && manages(task, actor)) return std::nullopt;
  return without_role(task, person);
}

}  // namespace

std::optional<Error> refuse_reading(const TaskRow& task, const Actor& actor) {
  if (manages(task, actor) || has_right(task, *actor.roles)) return std::nullopt;
  return without_role(task, actor.name);
}

std::optional<Error> refuse_completion(const TaskRow& task, const Actor& actor) {
  if (manages(task, actor)) return std::nullopt;
  if (is_anothers(task, actor)) return taken(task);
  return refuse_reading(task, actor);
}

std::optional<Error> refuse_change(const TaskRow& task, const TaskChange& change, const Actor& actor,
                                   const std::optional<std::vector<std::string>>& assignee_roles) {
  if (auto refused = refuse_reading(task, actor)) return refused;
  const bool assigns = change.kind == TaskChange::Kind::assign || change.kind == TaskChange::Kind::reassign;
  const bool takes = change.kind == TaskChange::Kind::reassign || change.kind == TaskChange::Kind::release;
  if (takes && is_anothers(task, actor) && !manages(task, actor)) return taken(task);
  return assigns ? refuse_assignee(task, change.assignee, actor, assignee_roles) : std::nullopt;
}

std::optional<std::vector<std::string>> viewer_roles_of(const Actor& actor) {
  return actor.manages_tasks ? std::nullopt : actor.roles;
}

}  // namespace cairn
