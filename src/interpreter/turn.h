// Turn is the interface that the code of one step kind uses. Every path through `begin`, `resume`, `lane_ended` and
// `woken` of a step ends with exactly one of end, fail, enter, rest or continue_step.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "interpreter/machine.h"

namespace cairn {

class Turn {
 public:
  Turn(Machine& at_work, ActiveStrand& of, StepIndex at)
      : machine(at_work), strand(of), index(at), step(at_work.program().steps[at]) {}

  Machine& machine;
  ActiveStrand& strand;
  StepIndex index;
  const Step& step;
  Json arrived = {};  // what a signal brought

  // What the step remembers while it is in progress. `remember` creates its frame.
  bool remembers() const;
  const Json& data() const { return strand.frames.back().data; }
  void remember(Json data);
  void remember(std::string_view key, Json value);

  void end();                   // ended without error
  void fail(Failure failure);   // the error leaves the step; its waits are closed
  void enter(BlockIndex lane);  // after `remember`; no_index ends the step instead
  void rest();                  // the strand waits or joins other strands
  void keep_waiting();          // the wakening did not end the wait
  void continue_step() {}       // the machine calls `resume` of the step next

  // An error of the step itself. It goes to the lane that handles it or leaves the step (rule S18).
  void fail_to_lane(Failure failure, BlockIndex on_timeout, BlockIndex on_failure);

  Result<Json, Failure> value(const Template& source, const char* what);
  // The request of a transport. Data in it cannot refer to a secret.
  Result<Json, Failure> sealed_value(const Template& source, const char* what);
  Result<Json, Failure> value(const std::optional<Template>& source, const char* what, Json otherwise);
  Result<std::string, Failure> text(const Template& source, const char* what);
  Result<std::vector<std::string>, Failure> texts(const std::optional<Template>& source, const char* what);
  Result<bool, Failure> condition(const expr::Expression& source, const char* what);
  Result<Duration, Failure> duration(const DurationTemplate& source, const char* what);
  Result<Timestamp, Failure> instant(const TimeTemplate& source, const char* what);
  // `now` plus a duration.
  Result<Timestamp, Failure> after(const DurationTemplate& source, const char* what);
  Result<Timestamp, Failure> due(const std::optional<DurationTemplate>& length, const std::optional<TimeTemplate>& at,
                                 const char* what);
  Result<Reference, Failure> reference(const ReferenceTemplate& source, const Reference& before);
  // Assigns the arrived value to `path`. False if that failed; the error then goes to `on_failure` or leaves the step.
  // The frame keeps the arrived value, so that a retry only assigns it again.
  bool take_result(const std::optional<StatePath>& path, Json arrived, BlockIndex on_failure = no_index);
  // The value that the frame keeps after an incident at `result`; nullptr: none.
  const Json* kept_result() const { return remembers() ? data().find("arrived") : nullptr; }

  Failure failure(FailureClass failure_class, std::string code, std::string message, Json details = {}) const;

  WaitToken open_timer(Timestamp until);
};

// Returns with `turn.fail(…)` if the value could not be computed.
#define CAIRN_OR_FAIL_NAMED(result, turn, declaration, expression) \
  auto result = (expression);                                      \
  if (!result) return (turn).fail(std::move(result).error());      \
  declaration = std::move(result).value()
#define CAIRN_OR_FAIL(turn, declaration, expression) \
  CAIRN_OR_FAIL_NAMED(CAIRN_CONCAT(cairn_value_, __LINE__), turn, declaration, expression)

}  // namespace cairn
