// While the task is open, the frame remembers `task` (in scope) and the token of the `deadline`. Other
// timers of the step are reminders. After completion, `task` and `completion` are in scope.
#include "interpreter/steps.h"
#include "interpreter/waiting.h"

namespace cairn {
namespace {

void expire(Turn& turn, const TaskStep& step, const Json& task_fields) {
  Machine& machine = turn.machine;
  const std::vector<WaitToken> open = turn.strand.waits;
  for (const WaitToken& token : open) machine.abandon_wait(turn.strand, token, TaskStatus::expired);
  turn.remember(Json::object({{"task", current_fields(turn.data()["task"], task_fields)}}));
  turn.enter(step.task.deadline->steps);
}

// A deadline that does not interrupt: its steps run in a separate strand while the task stays open.
void start_deadline_steps(Turn& turn, const TaskStep& step, const Json& task_fields) {
  Machine& machine = turn.machine;
  turn.remember("deadline", {});
  turn.remember("task", current_fields(turn.data()["task"], task_fields));
  const BlockIndex steps = step.task.deadline->steps;
  if (steps == no_index) return turn.keep_waiting();
  if (!machine.strand_fits()) {
    return turn.fail(turn.failure(FailureClass::definition, "limit_strands",
                                  "more than " + std::to_string(machine.setting().limits.strands_max) +
                                      " strands at once (limit: strands per instance)"));
  }
  turn.keep_waiting();
  machine.add_strand(turn.strand.id, steps);
}

void deadline_passed(Turn& turn, const TaskStep& step, const Json& task_fields) {
  if (step.task.deadline->interrupt) return expire(turn, step, task_fields);
  start_deadline_steps(turn, step, task_fields);
}

}  // namespace

void begin(Turn& turn, const TaskStep& step) {
  CAIRN_OR_FAIL(turn, TaskDraft draft, draft_task(turn, step.task, task_place(turn, std::nullopt)));
  open_task(turn, draft);
  Json data = Json::object({{"task", std::move(draft.fields)}});
  const bool passed = draft.row.deadline && *draft.row.deadline <= turn.machine.now();
  if (draft.row.deadline && !passed) data.set("deadline", turn.open_timer(*draft.row.deadline).value);
  for (const Timestamp at : draft.reminders) turn.open_timer(at);
  turn.remember(std::move(data));
  if (passed) return deadline_passed(turn, step, {});
  turn.rest();
}

void woken(Turn& turn, const TaskStep& step, Wakening&& wakening) {
  Machine& machine = turn.machine;
  if (wakening.wait.kind == WaitKind::timer) {
    const bool deadline = turn.data().text_or("deadline", "") == wakening.wait.token.value;
    if (deadline) return deadline_passed(turn, step, wakening.task_fields);
    emit_reminder(turn, current_fields(turn.data()["task"], wakening.task_fields));
    return turn.keep_waiting();
  }
  machine.out().tasks_closed.push_back(
      {.id = {wakening.wait.target}, .status = TaskStatus::completed, .by = wakening.by, .payload = wakening.payload});
  machine.cancel_children(turn.strand);
  machine.abandon_waits(turn.strand);
  turn.remember(Json::object(
      {{"completion", wakening.payload}, {"task", completed_fields(machine, turn.data()["task"], wakening)}}));
  if (turn.take_result(step.task.result, std::move(wakening.payload))) turn.enter(step.task.on_complete);
}

void resume(Turn& turn, const TaskStep& step) {
  const Json* arrived = turn.kept_result();
  if (!arrived) return turn.rest();
  if (turn.take_result(step.task.result, *arrived)) turn.enter(step.task.on_complete);
}

// A `complete` in the deadline's steps has closed the task, and an error has replaced the `complete`. No wait is left.
void strand_ended(Turn& turn, const TaskStep&) {
  if (!turn.strand.waits.empty()) return;
  turn.machine.make_ready(turn.strand);
  turn.end();
}

}  // namespace cairn
