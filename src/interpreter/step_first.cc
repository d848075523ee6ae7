// While it waits, the frame remembers the tokens of its `options` and, for task options, `tasks` by option (`task`,
// tokens of `reminders`). After one has won, it remembers the `winner` and what that brings into scope.
#include "interpreter/steps.h"
#include "interpreter/waiting.h"

namespace cairn {
namespace {

// The values evaluated while the options were checked, so that opening them does not evaluate again.
struct Prepared {
  Json key;
  std::optional<Timestamp> due;
  std::optional<TaskDraft> task;
};

// `result`, then `on_complete`, then `steps` (rule S9).
void enter_winner(Turn& turn, const FirstStep::Option& winner, Json payload) {
  const auto* task = std::get_if<TaskSpec>(&winner.wait);
  const auto* signal = std::get_if<SignalSpec>(&winner.wait);
  if (task || signal) {
    if (!turn.take_result(task ? task->result : signal->result, std::move(payload))) return;
  }
  turn.enter(task && task->on_complete != no_index ? task->on_complete : winner.steps);
}

void win(Turn& turn, const FirstStep& first, std::size_t option, Json scope, Json payload) {
  scope.set("winner", static_cast<std::int64_t>(option));
  turn.remember(std::move(scope));
  enter_winner(turn, first.options[option], std::move(payload));
}

const FirstStep::Option* find_winner(const Turn& turn, const FirstStep& first) {
  const Json& winner = turn.data()["winner"];
  if (!winner.is_integer() || winner.as_integer() < 0 ||
      static_cast<std::size_t>(winner.as_integer()) >= first.options.size()) {
    return nullptr;
  }
  return &first.options[static_cast<std::size_t>(winner.as_integer())];
}

// A timer that is not an option is a reminder of one of the tasks.
void remind(Turn& turn, const WaitToken& token, const Json& task_fields) {
  const Json tasks = turn.data()["tasks"];
  if (!tasks.is_object()) return;
  for (const Json::Member& held : tasks.members()) {
    if (position_of(held.value, "reminders", token)) {
      return emit_reminder(turn, current_fields(held.value["task"], task_fields));
    }
  }
}

}  // namespace

void begin(Turn& turn, const FirstStep& first) {
  std::vector<Prepared> prepared(first.options.size());
  for (std::size_t i = 0; i < first.options.size(); ++i) {
    const auto& wait = first.options[i].wait;
    if (const auto* signal = std::get_if<SignalSpec>(&wait)) {
      CAIRN_OR_FAIL(turn, prepared[i].key, signal_key(turn, *signal));
      const std::optional<Json> kept = take_kept_signal(turn, *signal, prepared[i].key);
      if (kept) return win(turn, first, i, Json::object({{"signal", *kept}}), *kept);
    } else if (const auto* timer = std::get_if<WaitSpec>(&wait)) {
      CAIRN_OR_FAIL(turn, prepared[i].due, due_of(turn, *timer));
      if (!prepared[i].due) return win(turn, first, i, Json::object(), {});
    }
  }
  for (std::size_t i = 0; i < first.options.size(); ++i) {
    if (const auto* task = std::get_if<TaskSpec>(&first.options[i].wait)) {
      CAIRN_OR_FAIL(turn, prepared[i].task, draft_task(turn, *task, task_place(turn, i)));
    }
  }
  Json tokens = Json::array();
  Json tasks = Json::object();
  for (std::size_t i = 0; i < first.options.size(); ++i) {
    Prepared& option = prepared[i];
    if (const auto* signal = std::get_if<SignalSpec>(&first.options[i].wait)) {
      tokens.push_back(open_signal(turn, *signal, std::move(option.key)).value);
    } else if (option.due) {
      tokens.push_back(turn.open_timer(*option.due).value);
    } else if (option.task) {
      tokens.push_back(open_task(turn, *option.task).value);
      Json task = Json::object({{"task", option.task->fields}});
      Json reminders = Json::array();
      for (const Timestamp at : option.task->reminders) reminders.push_back(turn.open_timer(at).value);
      if (reminders.size() > 0) task.set("reminders", std::move(reminders));
      tasks.set(std::to_string(i), std::move(task));
    }
  }
  turn.remember(Json::object({{"options", std::move(tokens)}, {"tasks", std::move(tasks)}}));
  turn.rest();
}

void woken(Turn& turn, const FirstStep& first, Wakening&& wakening) {
  Machine& machine = turn.machine;
  const auto option = position_of(turn.data(), "options", wakening.wait.token);
  if (!option || *option >= first.options.size()) {
    remind(turn, wakening.wait.token, wakening.task_fields);
    return turn.keep_waiting();
  }
  const Json task_fields = turn.data()["tasks"][std::to_string(*option)]["task"];
  machine.abandon_waits(turn.strand);
  switch (wakening.wait.kind) {
    case WaitKind::signal: {
      Json scope = Json::object({{"signal", wakening.payload}});
      return win(turn, first, *option, std::move(scope), std::move(wakening.payload));
    }
    case WaitKind::task: {
      machine.out().tasks_closed.push_back({.id = {wakening.wait.target},
                                            .status = TaskStatus::completed,
                                            .by = wakening.by,
                                            .payload = wakening.payload});
      Json scope =
          Json::object({{"completion", wakening.payload}, {"task", completed_fields(machine, task_fields, wakening)}});
      return win(turn, first, *option, std::move(scope), std::move(wakening.payload));
    }
    case WaitKind::timer:
    case WaitKind::subworkflow:
    case WaitKind::run: return win(turn, first, *option, Json::object(), {});
  }
}

void lane_ended(Turn& turn, const FirstStep& first, BlockIndex lane) {
  const FirstStep::Option* option = find_winner(turn, first);
  if (!option) return turn.end();
  const auto* task = std::get_if<TaskSpec>(&option->wait);
  if (task && lane == task->on_complete) return turn.enter(option->steps);
  turn.end();
}

void resume(Turn& turn, const FirstStep& first) {
  const Json* arrived = turn.kept_result();
  const FirstStep::Option* winner = find_winner(turn, first);
  if (!arrived || !winner) return turn.rest();
  enter_winner(turn, *winner, *arrived);
}

}  // namespace cairn
