// Who may not have or complete a task (rule S36).
#include <algorithm>

#include "interpreter/waiting.h"

namespace cairn {

bool is_among(const std::vector<std::string>& people, const std::string& person) {
  return std::find(people.begin(), people.end(), person) != people.end();
}

namespace {

// Calls `visit` for the frame of each `parallel` with `four_eyes: all` around the strand, the nearest first. While a
// parallel step has branches, its frame is the top of their parent strand.
template <class Visit>
void each_four_eyes(Turn& turn, Visit visit) {
  Machine& machine = turn.machine;
  for (ActiveStrand* at = machine.find_strand(turn.strand.parent); at; at = machine.find_strand(at->parent)) {
    ActiveFrame& frame = at->top();
    if (frame.kind != ActiveFrame::Kind::step) continue;
    const auto* parallel = std::get_if<ParallelStep>(&machine.program().steps[frame.index].body);
    if (parallel && parallel->four_eyes) visit(frame);
  }
}

}  // namespace

Result<std::vector<std::string>, Failure> excluded_people(Turn& turn, const TaskSpec& task, const std::string& place) {
  CAIRN_TRY(std::vector<std::string> people, turn.texts(task.exclude, "exclude"));
  const auto add = [&people](std::string_view person) {
    if (!is_among(people, std::string(person))) people.emplace_back(person);
  };
  const Program& program = turn.machine.program();
  if (const auto group = program.four_eyes.find(task.name); group != program.four_eyes.end()) {
    for (const CompletedTask& completed : turn.machine.snapshot().completed_tasks) {
      if (group->second.contains(completed.name)) add(completed.by);
    }
  }
  each_four_eyes(turn, [&](const ActiveFrame& frame) {
    const Json& completed = frame.data["four_eyes"];
    if (!completed.is_object()) return;
    for (const Json::Member& one : completed.members()) {
      if (one.value != Json(place)) add(one.key.view());
    }
  });
  return people;
}

void record_completion(Turn& turn, const OpenTask& task, const std::string& by) {
  Snapshot& snapshot = turn.machine.snapshot();
  const Program& program = turn.machine.program();
  if (program.four_eyes.contains(task.task->name)) {
    const CompletedTask completed{task.task->name, by};
    auto& all = snapshot.completed_tasks;
    if (std::find(all.begin(), all.end(), completed) == all.end()) all.push_back(completed);
  }
  each_four_eyes(turn, [&](ActiveFrame& frame) {
    if (!frame.data.is_object()) frame.data = Json::object();
    Json completed = frame.data["four_eyes"];
    if (!completed.is_object()) completed = Json::object();
    completed.set(by, task.place);
    frame.data.set("four_eyes", std::move(completed));
  });
}

Result<std::vector<std::string>> excluded_now(const Program& program, const Setting& setting, const Snapshot& snapshot,
                                              const TaskId& task, Timestamp now) {
  const auto wait = std::find_if(snapshot.waits.begin(), snapshot.waits.end(), [&](const Wait& open) {
    return open.kind == WaitKind::task && open.target == task.value;
  });
  if (wait == snapshot.waits.end()) return Error{ErrorCode::not_found, "no task " + task.value + " is open"};
  Event look;
  look.at = now;
  look.what = Continued{};
  Machine machine(program, setting, snapshot, look);
  CAIRN_TRY_VOID(machine.load());
  ActiveStrand* strand = machine.find_strand(wait->strand);
  if (!strand || strand->top().kind != ActiveFrame::Kind::step) {
    return Error{ErrorCode::corrupt, "no strand waits for task " + task.value};
  }
  Turn turn(machine, *strand, strand->top().index);
  const auto open = find_task(turn, wait->token);
  if (!open) return Error{ErrorCode::corrupt, "step " + turn.step.id + " does not know task " + task.value};
  auto people = excluded_people(turn, *open->task, open->place);
  if (!people) {
    return Error{ErrorCode::invalid,
                 "task " + open->task->name + ": `exclude` cannot be checked: " + people.error().message};
  }
  return std::move(people).value();
}

}  // namespace cairn
