// What each kind of step does. Each kind has a file of its own.
#pragma once

#include "interpreter/turn.h"

namespace cairn {

// The strand has reached the step.
void begin(Turn& turn, const SetStep& set);
void begin(Turn& turn, const ReferenceStep& reference);
void begin(Turn& turn, const TaskStep& task);
void begin(Turn& turn, const CallStep& call);
void begin(Turn& turn, const IfStep& branch);
void begin(Turn& turn, const SwitchStep& choice);
void begin(Turn& turn, const RepeatStep& repeat);
void begin(Turn& turn, const ParallelStep& parallel);
void begin(Turn& turn, const FirstStep& first);
void begin(Turn& turn, const WaitStep& wait);
void begin(Turn& turn, const SignalStep& signal);
void begin(Turn& turn, const SubworkflowStep& child);
void begin(Turn& turn, const ContinueStep& next);
void begin(Turn& turn, const EmitStep& emit);
void begin(Turn& turn, const TryStep& attempt);
void begin(Turn& turn, const UndoStep& undo);
void begin(Turn& turn, const FailStep& decision);
void begin(Turn& turn, const CompleteStep& complete);

// The step's frame is on top and its strand is ready, for example for the next round of a loop or the next branch.
void resume(Turn& turn, const RepeatStep& repeat);
void resume(Turn& turn, const ParallelStep& parallel);
void resume(Turn& turn, const UndoStep& undo);
// Resumes after an incident at `result`: the frame holds the arrived value, which is assigned again.
void resume(Turn& turn, const TaskStep& task);
void resume(Turn& turn, const CallStep& call);
void resume(Turn& turn, const TryStep& attempt);
void resume(Turn& turn, const FirstStep& first);
void resume(Turn& turn, const SignalStep& signal);
void resume(Turn& turn, const SubworkflowStep& child);

// A lane of the step has ended; its frame is on top again.
void lane_ended(Turn& turn, const RepeatStep& repeat, BlockIndex lane);
void lane_ended(Turn& turn, const FirstStep& first, BlockIndex lane);
void lane_ended(Turn& turn, const TryStep& attempt, BlockIndex lane);
void lane_ended(Turn& turn, const UndoStep& undo, BlockIndex lane);

// A wait of the step is over; its frame is on top.
void woken(Turn& turn, const TaskStep& task, Wakening&& wakening);
void woken(Turn& turn, const CallStep& call, Wakening&& wakening);
void woken(Turn& turn, const FirstStep& first, Wakening&& wakening);
void woken(Turn& turn, const WaitStep& wait, Wakening&& wakening);
void woken(Turn& turn, const SignalStep& signal, Wakening&& wakening);
void woken(Turn& turn, const SubworkflowStep& child, Wakening&& wakening);

// A strand of the step (a branch, a deadline's steps) has ended and is gone.
void strand_ended(Turn& turn, const ParallelStep& parallel);
void strand_ended(Turn& turn, const TaskStep& task);

// The defaults for kinds without a declaration above: they are never resumed or woken, and the end of a lane ends the
// step.
template <class Body>
void resume(Turn& turn, const Body&) {
  turn.rest();
}
template <class Body>
void lane_ended(Turn& turn, const Body&, BlockIndex) {
  turn.end();
}
template <class Body>
void woken(Turn& turn, const Body&, Wakening&&) {
  turn.rest();
}
template <class Body>
void strand_ended(Turn&, const Body&) {}

// Whether a `catch` or `finally` of the step handles the error. If so, its lane has been entered. The function may
// replace the error by another one. `calls` are the failed calls behind the error (call_keys.h).
bool intercept(Machine& machine, ActiveStrand& strand, std::size_t frame, const TryStep& attempt, Failure& failure,
               Json& calls);
// Whether a `finally` must run before `complete` can continue. If so, it has been entered.
bool holds_up_complete(Machine& machine, ActiveStrand& strand, const TryStep& attempt,
                       const std::optional<Json>& output);

}  // namespace cairn
