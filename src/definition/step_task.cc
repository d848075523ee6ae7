#include "definition/names.h"
#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

constexpr std::string_view deadline_kinds[] = {"after", "at"};
const Key deadline_keys[] = {
    {"after", Shape::duration, "How long after the task was made."},
    {"at", Shape::time, "The instant."},
    {"interrupt", Shape::boolean, "Whether the task expires (true) or stays open while `steps` run beside it.", false,
     Json(true)},
    {"steps", Shape::steps, "What happens then.", false, Json::array()},
};
const KeyTable deadline_table{"deadline", deadline_keys, deadline_kinds};

const Key task_keys[] = {
    {"name", Shape::label, "Names the kind of task; answers are given by it.", true},
    {"title", Shape::text_value, "What people see."},
    {"roles", Shape::texts_value, "Who may do it.", false, Json::array()},
    {"exclude", Shape::texts_value,
     "Who may not have or complete it; evaluated when a person takes or completes the task.", false, Json::array()},
    {"four_eyes", Shape::labels, "Names of tasks: one person completes at most one of them and this one."},
    {"payload", Shape::value, "What people need to decide.", false, Json::object()},
    {"form", Shape::schema, "JSON Schema of the completion payload."},
    {"require", Shape::conditions, "Guards that a completion must pass.", false, Json::array()},
    {"deadline", Shape::object, "What happens when it is not completed in time.", false, std::nullopt, &deadline_table},
    {"priority", Shape::integer_value, "Higher first.", false, Json(0)},
    {"due", Shape::due, "When it should be done, for sorting and display."},
    {"assignee", Shape::text_value, "The person to begin with."},
    {"remind", Shape::durations, "A reminder event at each of these times after activation.", false, Json::array()},
    {"result", Shape::path, "Where in state the completion payload goes."},
    {"on_complete", Shape::steps, "Steps that see `completion` and `task`.", false, Json::array()},
};

const Key task_step_keys[] = {
    {"task", Shape::object, "Activates a human task and waits for its completion.", true, std::nullopt, &task_table},
};

std::optional<DeadlineSpec> read_deadline(Fields& task, std::string_view option) {
  const auto at = task.find("deadline");
  if (!at) return std::nullopt;
  if (!option.empty()) {
    task.site().draft.findings.error(at->key_at(), at->pointer(),
                                     "a task inside `first` has no `deadline`; write a `wait` option beside it");
    return std::nullopt;
  }
  const Scope scope = task.site().scope.with_task();
  Fields fields(task.site(), *at, deadline_table);
  DeadlineSpec deadline;
  deadline.after = fields.duration("after");
  deadline.at = fields.time("at");
  deadline.interrupt = fields.boolean("interrupt");
  deadline.steps = fields.steps("steps", "deadline", scope);
  task.put("deadline", fields.take());
  return deadline;
}

void check_task_name(Fields& task, const std::string& name) {
  const auto at = task.find("name");
  if (name.find_first_of("@=") != std::string::npos) {
    task.site().draft.error(*at, "`name` may not hold `@` or `=`, because answers are written NAME@USER=JSON");
  }
}

// The names are checked when all tasks are known (check_four_eyes).
std::vector<std::string> read_four_eyes(Fields& task, const std::string& name) {
  std::vector<std::string> names = task.labels("four_eyes");
  if (names.empty()) return names;
  Draft& draft = task.site().draft;
  const auto at = task.find("four_eyes");
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Cursor item = at->item(i);
    draft.four_eyes.push_back({name, names[i], item.at(), item.pointer()});
  }
  return names;
}

StepBody read_task(Fields& fields) {
  TaskStep step;
  step.task = read_task(fields, "task", "");
  return step;
}

}  // namespace

const KeyTable task_table{"task", task_keys};

expr::Type completion_type(const Fields& outer, std::string_view task_key) {
  const auto at = outer.find(task_key);
  if (!at || at->node().kind != Json::Kind::object) return expr::Type::dyn();
  const SourceNode* form = at->node().find("form");
  return form != nullptr ? expr::Type::from_schema(form->to_json()) : expr::Type::dyn();
}

TaskSpec read_task(Fields& outer, std::string_view key, std::string_view option) {
  TaskSpec task;
  const auto at = outer.find(key);
  if (!at) return task;
  Fields fields(outer.site(), *at, task_table);
  if (auto name = fields.text("name")) {
    check_task_name(fields, *name);
    task.name = std::move(*name);
  }
  task.title = fields.value("title");
  task.roles = fields.value("roles");
  task.exclude = fields.value("exclude");
  task.four_eyes = read_four_eyes(fields, task.name);
  task.payload = fields.value("payload");
  task.form = fields.schema("form");
  const Scope completed = fields.site().scope.with_completion(completion_type(outer, key));
  task.require = fields.conditions("require", completed);
  task.deadline = read_deadline(fields, option);
  task.priority = fields.value("priority");
  task.due = fields.due("due");
  task.assignee = fields.value("assignee");
  task.remind = fields.durations("remind");
  task.result = read_result(fields);
  const std::string lane = option.empty() ? "on_complete" : std::string(option) + ".on_complete";
  task.on_complete = fields.steps("on_complete", lane, completed);
  outer.put(key, fields.take());
  return task;
}

const StepKind task_kind{"task", "Activates a human task and waits for its completion.", task_step_keys, read_task};

}  // namespace cairn
