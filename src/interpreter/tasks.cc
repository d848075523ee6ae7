#include <algorithm>

#include "interpreter/waiting.h"
#include "schema/error_places.h"

namespace cairn {
namespace {

Json to_list(const std::vector<std::string>& texts) {
  Json::Array items;
  items.reserve(texts.size());
  for (const std::string& text : texts) items.emplace_back(text);
  return Json::array(std::move(items));
}

// Accepts a duration from now or an instant, depending on the value.
Result<std::optional<Timestamp>, Failure> evaluate_due(Turn& turn, const std::optional<DueTemplate>& due) {
  if (!due) return std::optional<Timestamp>();
  if (!due->either) {
    CAIRN_TRY(const Timestamp at, turn.due(due->after, due->at, "due"));
    return std::optional<Timestamp>(at);
  }
  const DurationTemplate length{.literal = {}, .expression = *due->either};
  auto at = turn.instant(TimeTemplate{.literal = {}, .expression = *due->either}, "due");
  if (at) return std::optional<Timestamp>(*at);
  auto after = turn.after(length, "due");
  if (!after) return std::move(after).error();
  return std::optional<Timestamp>(*after);
}

}  // namespace

std::string task_place(const Turn& turn, std::optional<std::size_t> option) {
  return option ? turn.step.path + "#" + std::to_string(*option) : turn.step.path;
}

Result<TaskDraft, Failure> draft_task(Turn& turn, const TaskSpec& task, const std::string& place) {
  Machine& machine = turn.machine;
  TaskDraft draft;
  TaskOpened& row = draft.row;
  row.step = turn.step.id;
  row.name = task.name;
  row.title = task.name;
  if (task.title) {
    CAIRN_TRY(row.title, turn.text(*task.title, "title"));
  }
  CAIRN_TRY(row.roles, turn.texts(task.roles, "roles"));
  CAIRN_TRY(row.exclude, excluded_people(turn, task, place));
  CAIRN_TRY(row.managers, turn.texts(machine.program().managers, "managers"));
  CAIRN_TRY(row.payload, turn.value(task.payload, "payload", Json::object()));
  if (task.form) row.form = task.form->document();
  CAIRN_TRY(const Json priority, turn.value(task.priority, "priority", 0));
  if (!priority.is_integer()) {
    return turn.failure(FailureClass::expression, "invalid_argument",
                        "priority must be a whole number (" + turn.step.path + ")");
  }
  row.priority = priority.as_integer();
  CAIRN_TRY(row.due, evaluate_due(turn, task.due));
  if (task.assignee) {
    CAIRN_TRY(const Json assignee, turn.value(*task.assignee, "assignee"));
    if (!assignee.is_null() && !assignee.is_string()) {
      return turn.failure(FailureClass::expression, "invalid_argument",
                          "assignee must be text (" + turn.step.path + ")");
    }
    if (assignee.is_string()) row.assignee = assignee.as_string();
    // A person who may not have the task does not begin with it.
    if (is_among(row.exclude, row.assignee)) row.assignee.clear();
  }
  if (task.deadline) {
    CAIRN_TRY(row.deadline, turn.due(task.deadline->after, task.deadline->at, "deadline"));
  }
  for (const DurationTemplate& remind : task.remind) {
    CAIRN_TRY(const Timestamp at, turn.after(remind, "remind"));
    draft.reminders.push_back(at);
  }
  row.reference = machine.snapshot().reference;
  draft.fields = Json::object({{"assignee", row.assignee.empty() ? Json() : Json(row.assignee)},
                               {"created_at", format_timestamp(machine.now())},
                               {"name", row.name},
                               {"payload", row.payload},
                               {"roles", to_list(row.roles)},
                               {"title", row.title}});
  return draft;
}

WaitToken open_task(Turn& turn, TaskDraft& draft) {
  Machine& machine = turn.machine;
  TaskOpened& row = draft.row;
  row.id.value = derived_uuid(machine.snapshot().instance.value, "task", machine.next_number());
  draft.fields.set("id", row.id.value);
  Wait wait;
  wait.kind = WaitKind::task;
  wait.step = turn.step.id;
  wait.name = row.name;
  wait.target = row.id.value;
  row.token = machine.open_wait(turn.strand, std::move(wait));
  machine.out().tasks_opened.push_back(row);
  return row.token;
}

Json current_fields(const Json& fields, const Json& changed_by_task) {
  Json current = fields.is_object() ? fields : Json::object();
  const Json& changed = changed_by_task[current.text_or("id", "")];
  if (const Json* assignee = changed.find("assignee")) current.set("assignee", *assignee);
  return current;
}

Json completed_fields(const Machine& machine, const Json& fields, const Wakening& wakening) {
  Json completed = fields.is_object() ? fields : Json::object();
  if (const Json* assignee = wakening.task_fields.find("assignee")) completed.set("assignee", *assignee);
  completed.set("completed_by", wakening.by);
  completed.set("completed_at", format_timestamp(machine.now()));
  return completed;
}

void emit_reminder(Turn& turn, const Json& task) {
  Machine& machine = turn.machine;
  OutboxEvent event;
  event.id.value = derived_uuid(machine.snapshot().instance.value, "event", machine.next_number());
  event.type = "cairn.task.reminder";
  event.subject = task.text_or("id", "");
  event.data = Json::object({{"instance", machine.snapshot().instance.value}, {"step", turn.step.id}, {"task", task}});
  machine.out().outbox.push_back(std::move(event));
}

std::optional<OpenTask> find_task(const Turn& turn, const WaitToken& token) {
  if (const auto* step = std::get_if<TaskStep>(&turn.step.body)) {
    return OpenTask{&step->task, turn.data()["task"], task_place(turn, std::nullopt)};
  }
  const auto* first = std::get_if<FirstStep>(&turn.step.body);
  if (!first) return std::nullopt;
  const auto option = position_of(turn.data(), "options", token);
  if (!option || *option >= first->options.size()) return std::nullopt;
  const auto* task = std::get_if<TaskSpec>(&first->options[*option].wait);
  const Json& held = turn.data()["tasks"][std::to_string(*option)];
  if (!task) return std::nullopt;
  return OpenTask{task, held["task"], task_place(turn, *option)};
}

Result<void> check_completion(Turn& turn, const OpenTask& open, const TaskCompleted& completion) {
  const std::string name = "task " + open.task->name;
  auto excluded = excluded_people(turn, *open.task, open.place);
  if (!excluded) {
    return Error{ErrorCode::invalid, name + ": `exclude` cannot be checked: " + excluded.error().message};
  }
  if (is_among(*excluded, completion.by)) {
    return Error{ErrorCode::not_allowed, name + ": " + completion.by + " may not complete it (exclude)"};
  }
  if (open.task->form && !open.task->form->accepts(completion.payload)) {
    const auto violations = open.task->form->check(completion.payload);
    return Error{ErrorCode::invalid, name + ": the form refuses the completion: " + schema::listed(violations),
                 schema::error_places(violations, "/payload")};
  }
  Machine& machine = turn.machine;
  const Wakening wakening{
      .wait = {}, .payload = {}, .failure = {}, .by = completion.by, .task_fields = completion.task_fields};
  const Json fields = completed_fields(machine, open.fields, wakening);
  for (const expr::Expression& guard : open.task->require) {
    const expr::Bindings bindings = machine.scope().bind(turn.strand);
    machine.scope().add(slot_task, fields);
    machine.scope().add(slot_completion, completion.payload);
    auto holds = guard.evaluate_condition(bindings, machine.budget());
    if (!holds) {
      return Error{ErrorCode::invalid,
                   name + ": the guard `" + guard.text() + "` cannot be checked: " + holds.error().message};
    }
    if (!*holds) {
      const std::string why = "the guard `" + guard.text() + "` refuses the completion";
      return Error{ErrorCode::invalid, name + ": " + why, {{"/payload", why}}};
    }
  }
  return {};
}

}  // namespace cairn
