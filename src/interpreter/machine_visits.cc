// Names the visits of steps, for the log.
#include "interpreter/machine.h"

namespace cairn {

const std::string& visit_named_by(const Wait& wait) { return wait.target.empty() ? wait.token.value : wait.target; }

std::string Machine::visit_of(const ActiveStrand& strand, const std::string& step) const {
  if (strand.frames.empty() || step.empty()) return {};
  const ActiveFrame& frame = strand.frames.back();
  StepIndex at = frame.index;
  if (frame.kind == ActiveFrame::Kind::block) {
    const std::vector<StepIndex>& steps = program_.blocks[frame.index].steps;
    if (frame.position >= steps.size()) return {};
    at = steps[frame.position];
  } else if (frame.kind != ActiveFrame::Kind::step) {
    return {};
  }
  if (program_.steps[at].id != step) return {};
  if (frame.kind == ActiveFrame::Kind::step) {
    if (!frame.visit.empty()) return frame.visit.str();
    const Wait* first = strand.waits.empty() ? nullptr : find_wait(strand.waits.front());
    if (first) return visit_named_by(*first);
  }
  return program_.steps[at].path;
}

void Machine::note_visit(ActiveStrand& strand) {
  if (strand.waits.empty() || strand.frames.empty()) return;
  ActiveFrame& frame = strand.top();
  if (frame.kind != ActiveFrame::Kind::step || !frame.visit.empty()) return;
  if (const Wait* first = find_wait(strand.waits.front())) frame.visit = Text(visit_named_by(*first));
}

}  // namespace cairn
