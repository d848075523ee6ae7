// On an operator's request: the incident is passed over.
#include "interpreter/machine.h"
#include "interpreter/merge_patch.h"
#include "interpreter/state_path.h"

namespace cairn {
namespace {

const std::optional<StatePath>* result_of(const StepBody& body) {
  if (const auto* task = std::get_if<TaskStep>(&body)) return &task->task.result;
  if (const auto* call = std::get_if<CallStep>(&body)) return &call->result;
  if (const auto* signal = std::get_if<SignalStep>(&body)) return &signal->signal.result;
  if (const auto* child = std::get_if<SubworkflowStep>(&body)) return &child->result;
  return nullptr;
}

}  // namespace

Result<void> Machine::skip(ActiveStrand& strand, Json result, const std::string& reason) {
  std::string visit;
  if (strand.top().kind == ActiveFrame::Kind::step) {
    const Step& failed = program_.steps[strand.top().index];
    if (!std::holds_alternative<TryStep>(failed.body)) visit = visit_of(strand, failed.id);
    unwind(strand, strand.frames.size() - 1);
  }
  ActiveFrame& frame = strand.top();
  if (frame.kind != ActiveFrame::Kind::block) {
    return Error{ErrorCode::conflict, "there is no step to skip: the instance did not get to its first one"};
  }
  const Block& block = program_.blocks[frame.index];
  if (frame.position >= block.steps.size()) {
    end_instance(Status::completed, std::move(result), std::nullopt);
    return {};
  }
  const Step& step = program_.steps[block.steps[frame.position]];
  Json details;
  if (!reason.empty()) details.set("reason", reason);
  if (const auto* path = result_of(step.body); path && *path) {
    Json change = Json::object({{"path", pointer_of(**path)}});
    if (const Json* old = find_value(out_.after.state, **path)) put_value(change, "old", *old);
    put_value(change, "new", result);
    details.set("changed", Json::array({std::move(change)}));
    if (auto assigned = assign(&step, **path, std::move(result)); !assigned) {
      return Error{ErrorCode::invalid, assigned.error().message};
    }
  }
  log(LogEntry::Kind::skipped, step.id, std::move(details), 1, std::move(visit));
  ++frame.position;
  make_ready(strand);
  return {};
}

}  // namespace cairn
