#include "definition/checks.h"
#include "definition/draft.h"

namespace cairn {
namespace {

bool waits_or_ends(const StepBody& body) {
  if (const auto* wait = std::get_if<WaitStep>(&body)) {
    return !(wait->wait.duration && wait->wait.duration->literal && wait->wait.duration->literal->zero());
  }
  return std::holds_alternative<TaskStep>(body) || std::holds_alternative<CallStep>(body) ||
         std::holds_alternative<FirstStep>(body) || std::holds_alternative<SignalStep>(body) ||
         std::holds_alternative<SubworkflowStep>(body) || std::holds_alternative<FailStep>(body) ||
         std::holds_alternative<CompleteStep>(body);
}

// Walks the steps that certainly run, in order, up to the first that may wait or end the instance. Steps under a
// condition are not certain: a workflow may start itself there, for example to process a tree.
class CertainWalk {
 public:
  explicit CertainWalk(Draft& draft) : draft_(draft), program_(draft.program), lanes_(program_.steps.size()) {
    for (BlockIndex i = 0; i < program_.blocks.size(); ++i) {
      const StepIndex owner = program_.blocks[i].owner;
      if (owner < lanes_.size()) lanes_[owner].push_back(i);
    }
  }

  // False if the following steps may not be reached without a wait.
  bool block(BlockIndex index) {
    if (index >= program_.blocks.size()) return true;
    for (const StepIndex step : program_.blocks[index].steps) {
      if (!this->step(step)) return false;
    }
    return true;
  }

 private:
  bool step(StepIndex index) {
    const Step& step = program_.steps[index];
    if (step.when) return !may_stop(index);
    if (const auto* child = std::get_if<SubworkflowStep>(&step.body)) {
      if (is_self(child->name, child->version)) {
        report(index,
               "this workflow starts itself here every time, before it has waited for anything, and would never "
               "end; put a condition or a wait before it");
      }
      return false;
    }
    if (const auto* next = std::get_if<ContinueStep>(&step.body)) {
      if (is_self(next->name, next->version)) {
        report(index,
               "this workflow starts another instance of itself here every time, before it has waited for "
               "anything, without end; put a condition or a wait before it");
      }
      return true;
    }
    if (const auto* strands = std::get_if<ParallelStep>(&step.body)) {
      bool passed = true;
      for (const ParallelStep::Branch& branch : strands->branches) {
        const bool ended = block(branch.steps);
        passed = passed && ended;
        // If a branch ends at once, the join may be satisfied before the next branch starts.
        if (ended && strands->join < strands->branches.size()) break;
      }
      return passed;
    }
    if (const auto* guarded = std::get_if<TryStep>(&step.body)) {
      return block(guarded->body) && block(guarded->finally_block) && !may_stop(index);
    }
    if (const auto* loop = std::get_if<RepeatStep>(&step.body); loop != nullptr && certain_rounds(*loop)) {
      return block(loop->body);
    }
    return !may_stop(index);
  }

  static bool certain_rounds(const RepeatStep& loop) {
    const Json* times = loop.over ? loop.over->constant() : nullptr;
    return loop.kind == RepeatStep::Kind::times && times != nullptr && times->is_integer() && times->as_integer() > 0;
  }

  bool may_stop(StepIndex index) const {
    if (waits_or_ends(program_.steps[index].body)) return true;
    for (const BlockIndex lane : lanes_[index]) {
      for (const StepIndex step : program_.blocks[lane].steps) {
        if (may_stop(step)) return true;
      }
    }
    return false;
  }

  bool is_self(const std::string& name, const std::optional<std::string>& version) const {
    return !name.empty() && name == program_.name && (!version || *version == program_.version);
  }

  void report(StepIndex index, std::string message) {
    const Draft::Start& named = draft_.starts[index];
    draft_.findings.error(named.at, named.pointer, std::move(message));
  }

  Draft& draft_;
  const Program& program_;
  std::vector<std::vector<BlockIndex>> lanes_;  // by the step that owns them
};

}  // namespace

void check_self_starts(Draft& draft) { CertainWalk(draft).block(0); }

}  // namespace cairn
