#include "render/outline.h"

#include "render/label.h"
#include "render/step_text.h"

namespace cairn::render {
namespace {

class Reader {
 public:
  explicit Reader(const Program& program) : program_(program) {}

  std::vector<Item> items(BlockIndex block) const {
    std::vector<Item> out;
    if (block >= program_.blocks.size()) return out;
    for (const StepIndex index : program_.blocks[block].steps) add(program_.steps[index], out);
    return out;
  }

 private:
  void add(const Step& step, std::vector<Item>& out) const {
    Item item;
    item.step = step.id;
    item.label = step_text(step);
    std::visit([&](const auto& body) { fill(body, item); }, step.body);
    // An empty undo is not drawn. An empty lane that handles an error is.
    if (step.compensate < program_.blocks.size() && !program_.blocks[step.compensate].steps.empty()) {
      side_lane(LaneKind::compensation, "undo", step.compensate, item);
    }
    if (!step.when) {
      add_with_cleanup(step, std::move(item), out);
    } else if (is_plain(item) && !always_ends(item)) {
      item.detail = "when " + condition_text(*step.when);
      out.push_back(std::move(item));
    } else {
      // A condition on something larger than one step, or on an end, is drawn as a decision.
      Item decision;
      decision.shape = Shape::decision;
      decision.step = step.id;
      decision.part = "when";
      decision.label = condition_text(*step.when);
      decision.lanes.push_back({LaneKind::flow, "when", "yes", {}});
      decision.lanes.push_back({LaneKind::flow, "", "no", {}});
      add_with_cleanup(step, std::move(item), decision.lanes[0].items);
      out.push_back(std::move(decision));
    }
  }

  // Whether the item is a single step without dependent parts.
  static bool is_plain(const Item& item) {
    for (const Lane& lane : item.lanes) {
      if (lane.kind == LaneKind::flow) return false;
    }
    const Shape shape = item.shape;
    return shape != Shape::decision && shape != Shape::race && shape != Shape::fork && shape != Shape::loop &&
           shape != Shape::attempt;
  }

  void add_with_cleanup(const Step& step, Item item, std::vector<Item>& out) const {
    const auto* attempt = std::get_if<TryStep>(&step.body);
    out.push_back(std::move(item));
    if (attempt && attempt->finally_block != no_index) {
      Item cleanup;
      cleanup.shape = Shape::cleanup;
      cleanup.step = step.id;
      cleanup.part = "finally";
      cleanup.label = "finally";
      cleanup.lanes.push_back(lane(LaneKind::flow, "", attempt->finally_block));
      out.push_back(std::move(cleanup));
    }
  }

  Lane lane(LaneKind kind, std::string label, BlockIndex block) const {
    Lane made;
    made.kind = kind;
    made.label = plain_text(label);
    if (block < program_.blocks.size()) made.name = program_.blocks[block].lane;
    made.items = items(block);
    return made;
  }
  void side_lane(LaneKind kind, std::string label, BlockIndex block, Item& item) const {
    if (block != no_index) item.lanes.push_back(lane(kind, std::move(label), block));
  }

  void fill(const SetStep&, Item& item) const { item.shape = Shape::data; }
  void fill(const ReferenceStep&, Item& item) const { item.shape = Shape::data; }
  void fill(const TaskStep& body, Item& item) const { fill(body.task, item); }
  void fill(const TaskSpec& task, Item& item) const {
    item.shape = Shape::task;
    side_lane(LaneKind::flow, "", task.on_complete, item);
    if (task.deadline && task.deadline->steps != no_index) {
      side_lane(task.deadline->interrupt ? LaneKind::timeout : LaneKind::beside, deadline_text(*task.deadline),
                task.deadline->steps, item);
    } else if (task.deadline && task.deadline->interrupt) {
      Lane expires{LaneKind::timeout, "deadline", plain_text(deadline_text(*task.deadline)), {}};
      item.lanes.push_back(std::move(expires));
    }
  }
  void fill(const CallStep& body, Item& item) const {
    item.shape = Shape::action;
    side_lane(LaneKind::failure, "on failure", body.on_failure, item);
    side_lane(LaneKind::timeout, "on timeout", body.on_timeout, item);
  }
  void fill(const IfStep& body, Item& item) const {
    item.shape = Shape::decision;
    item.lanes.push_back(lane(LaneKind::flow, "yes", body.then_block));
    item.lanes.push_back(lane(LaneKind::flow, "no", body.else_block));
    item.lanes[1].name = "else";
  }
  void fill(const SwitchStep& body, Item& item) const {
    item.shape = Shape::decision;
    const SwitchText text = switch_text(body);
    for (std::size_t i = 0; i < body.cases.size(); ++i) {
      const std::string label = text.question.empty() ? condition_text(body.cases[i].when) : text.answers[i];
      item.lanes.push_back(lane(LaneKind::flow, label, body.cases[i].steps));
    }
    item.lanes.push_back(lane(LaneKind::flow, "otherwise", body.otherwise));
    item.lanes.back().name = "default";
  }
  void fill(const RepeatStep& body, Item& item) const {
    item.shape = Shape::loop;
    item.lanes.push_back(lane(LaneKind::flow, "", body.body));
  }
  void fill(const ParallelStep& body, Item& item) const {
    item.shape = Shape::fork;
    for (const ParallelStep::Branch& branch : body.branches) {
      item.lanes.push_back(lane(LaneKind::flow, branch.name, branch.steps));
    }
    if (body.join < body.branches.size()) {
      item.joined = std::to_string(body.join) + " of " + std::to_string(body.branches.size());
    }
  }
  void fill(const FirstStep& body, Item& item) const {
    item.shape = Shape::race;
    for (std::size_t i = 0; i < body.options.size(); ++i) {
      const FirstStep::Option& option = body.options[i];
      Item head;
      head.step = item.step;
      head.part = "option" + std::to_string(i);
      std::visit([&](const auto& wait) { fill_option(wait, head); }, option.wait);
      head.label = plain_text(head.label);
      Lane made;
      made.name = "option" + std::to_string(i);
      made.items.push_back(std::move(head));
      for (Item& next : items(option.steps)) made.items.push_back(std::move(next));
      item.lanes.push_back(std::move(made));
    }
  }
  void fill_option(const SignalSpec& signal, Item& head) const {
    head.shape = Shape::signal;
    head.label = signal.name;
  }
  void fill_option(const WaitSpec& wait, Item& head) const {
    head.shape = Shape::wait;
    head.label = wait_text(wait);
  }
  void fill_option(const TaskSpec& task, Item& head) const {
    fill(task, head);
    head.label = task_text(task);
  }
  void fill(const WaitStep&, Item& item) const { item.shape = Shape::wait; }
  void fill(const SignalStep& body, Item& item) const {
    item.shape = Shape::signal;
    const std::string label = body.signal.timeout ? "after " + duration_text(*body.signal.timeout) : "on timeout";
    side_lane(LaneKind::timeout, label, body.signal.on_timeout, item);
  }
  void fill(const SubworkflowStep& body, Item& item) const {
    item.shape = Shape::subworkflow;
    side_lane(LaneKind::failure, "on failure", body.on_failure, item);
  }
  void fill(const ContinueStep&, Item& item) const { item.shape = Shape::event; }
  void fill(const EmitStep&, Item& item) const { item.shape = Shape::event; }
  void fill(const TryStep& body, Item& item) const {
    item.shape = Shape::attempt;
    item.lanes.push_back(lane(LaneKind::flow, "", body.body));
    for (const TryStep::Catch& one : body.catches) {
      item.lanes.push_back(lane(LaneKind::failure, one.when ? condition_text(*one.when) : "any error", one.steps));
    }
  }
  void fill(const UndoStep&, Item& item) const { item.shape = Shape::undo; }
  void fill(const FailStep&, Item& item) const { item.shape = Shape::fail; }
  void fill(const CompleteStep&, Item& item) const { item.shape = Shape::complete; }

  const Program& program_;
};

std::size_t count_steps(const std::vector<Item>& items) {
  std::size_t count = 0;
  for (const Item& item : items) {
    ++count;
    for (const Lane& lane : item.lanes) count += count_steps(lane.items);
  }
  return count;
}

void collapse_items(std::vector<Item>& items, int depth) {
  for (Item& item : items) {
    if (item.lanes.empty()) continue;
    if (depth > 0) {
      for (Lane& lane : item.lanes) collapse_items(lane.items, depth - 1);
      continue;
    }
    std::size_t hidden = 0;
    for (const Lane& lane : item.lanes) hidden += count_steps(lane.items);
    const bool ends = always_ends(item);
    item.lanes.clear();
    item.shape = ends ? Shape::complete : Shape::collapsed;
    item.detail = std::to_string(hidden) + (hidden == 1 ? " step inside" : " steps inside");
  }
}

}  // namespace

Outline outline_of(const Program& program) {
  Outline outline;
  outline.name = program.name;
  outline.version = program.version;
  outline.title = plain_text(program.title.empty() ? program.name : program.title);
  outline.digest = program.digest;
  outline.items = Reader(program).items(0);
  return outline;
}

void collapse(Outline& outline, int depth) { collapse_items(outline.items, depth); }

bool always_ends(const std::vector<Item>& items) {
  for (const Item& item : items) {
    if (always_ends(item)) return true;
  }
  return false;
}

bool always_ends(const Item& item) {
  if (item.shape == Shape::complete || item.shape == Shape::fail || item.shape == Shape::jump) return true;
  if (item.shape == Shape::loop) return false;  // there may be no round
  bool has_flow = false;
  bool all_end = true;
  for (const Lane& lane : item.lanes) {
    if (lane.kind == LaneKind::beside || lane.kind == LaneKind::compensation) continue;
    has_flow = has_flow || lane.kind == LaneKind::flow;
    all_end = all_end && always_ends(lane.items);
  }
  return has_flow && all_end;
}

}  // namespace cairn::render
