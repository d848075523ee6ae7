// The frame remembers its `phase` (body, catch, finally, failed), in `catch` the `error` in scope, and in `finally`
// what is `pending`: {"error": …, "calls"?: …} or {"complete": true, "output"?: …}. `calls` has the failed calls by
// position (call_keys.h). With it the frame stays after an incident (`failed`), and the `body` that a retry runs again
// makes these calls with their keys.
#include "interpreter/failures.h"
#include "interpreter/steps.h"

namespace cairn {
namespace {

// An empty list counts as none. Entering it would only change the place of an incident.
bool has_finally(const Machine& machine, const TryStep& attempt) {
  return attempt.finally_block != no_index && !machine.program().blocks[attempt.finally_block].steps.empty();
}

void enter_finally(Machine& machine, ActiveStrand& strand, const TryStep& attempt, Json pending) {
  Json data = Json::object({{"phase", "finally"}});
  if (!pending.is_null()) data.set("pending", std::move(pending));
  strand.top().data = std::move(data);
  machine.scope().forget();
  machine.push_block(strand, attempt.finally_block);
  machine.make_ready(strand);
}

}  // namespace

void begin(Turn& turn, const TryStep& attempt) {
  turn.remember(Json::object({{"phase", "body"}}));
  turn.enter(attempt.body);
}

void lane_ended(Turn& turn, const TryStep& attempt, BlockIndex) {
  if (turn.data().text_or("phase", "") != "finally") {
    if (!has_finally(turn.machine, attempt)) return turn.end();
    return enter_finally(turn.machine, turn.strand, attempt, {});
  }
  const Json pending = turn.data()["pending"];
  if (const Json* error = pending.find("error")) {
    auto read = failure_from_json(*error);
    Failure failure = read ? std::move(read).value() : Failure{};
    const Json* calls = pending.find("calls");
    if (!calls) return turn.fail(std::move(failure));
    turn.strand.top().data = Json::object({{"phase", "failed"}, {"calls", *calls}});
    turn.machine.scope().forget();
    turn.machine.make_ready(turn.strand);
    return turn.machine.raise(turn.strand, std::move(failure));
  }
  if (pending.find("complete")) {
    std::optional<Json> output;
    if (const Json* held = pending.find("output")) output = *held;
    turn.machine.pop(turn.strand);
    return turn.machine.complete_from(turn.strand, std::move(output));
  }
  turn.end();
}

void resume(Turn& turn, const TryStep& attempt) {
  if (turn.data().text_or("phase", "") != "failed") return turn.rest();
  Json data = Json::object({{"phase", "body"}});
  if (!turn.machine.wants_new_keys()) data.set("calls", turn.data()["calls"]);
  turn.strand.top().data = std::move(data);
  turn.machine.scope().forget();
  turn.enter(attempt.body);
}

bool intercept(Machine& machine, ActiveStrand& strand, std::size_t frame, const TryStep& attempt, Failure& failure,
               Json& calls) {
  const ActiveFrame& held = strand.frames[frame];
  const Step& step = machine.program().steps[held.index];
  const std::string phase(held.data.text_or("phase", ""));
  if (phase == "body") {
    const Json error = error_in_scope(failure);
    for (const TryStep::Catch& candidate : attempt.catches) {
      if (candidate.when) {
        const expr::Bindings bindings = machine.scope().bind(strand, frame);
        machine.scope().add(slot_error, error);
        auto holds = candidate.when->evaluate_condition(bindings, machine.budget());
        if (!holds) {
          failure = expression_failure(machine.program(), &step, holds.error(), "catch when", candidate.when->text());
          calls = {};
          break;
        }
        if (!*holds) continue;
      }
      machine.unwind(strand, frame + 1);
      strand.top().data = Json::object({{"error", error}, {"phase", "catch"}});
      machine.scope().forget();
      machine.make_ready(strand);
      if (candidate.steps != no_index) {
        machine.push_block(strand, candidate.steps);
      } else {
        Turn turn(machine, strand, strand.top().index);
        lane_ended(turn, attempt, no_index);
      }
      return true;
    }
  }
  if (phase == "finally" || phase == "failed" || !has_finally(machine, attempt)) return false;
  Json kept = held.data["calls"].is_object() ? held.data["calls"] : Json::object();
  if (calls.is_object()) {
    for (const Json::Member& call : calls.members()) kept.set(call.key, call.value);
  }
  machine.unwind(strand, frame + 1);
  Json pending = Json::object({{"error", to_json(failure)}});
  if (kept.size() > 0) pending.set("calls", std::move(kept));
  enter_finally(machine, strand, attempt, std::move(pending));
  return true;
}

bool holds_up_complete(Machine& machine, ActiveStrand& strand, const TryStep& attempt,
                       const std::optional<Json>& output) {
  if (!has_finally(machine, attempt) || strand.top().data.text_or("phase", "") == "finally") return false;
  Json pending = Json::object({{"complete", true}});
  if (output) pending.set("output", *output);
  enter_finally(machine, strand, attempt, std::move(pending));
  return true;
}

}  // namespace cairn
