// The frame remembers the round (`index`) and the `items` or the number of `times`, which are evaluated once.
#include "interpreter/steps.h"

namespace cairn {
namespace {

std::int64_t round_of(const Turn& turn) {
  const Json& index = turn.data()["index"];
  return index.is_integer() ? index.as_integer() : 0;
}

}  // namespace

void begin(Turn& turn, const RepeatStep& repeat) {
  Json data = Json::object({{"index", 0}});
  switch (repeat.kind) {
    case RepeatStep::Kind::for_each: {
      CAIRN_OR_FAIL(turn, Json items, turn.value(repeat.over, "for_each", Json::array()));
      if (!items.is_array()) {
        return turn.fail(turn.failure(
            FailureClass::expression, "no_such_overload",
            std::string("for_each needs a list, not ") + to_string(items.kind()) + " (" + turn.step.path + ")"));
      }
      data.set("items", std::move(items));
      break;
    }
    case RepeatStep::Kind::times: {
      CAIRN_OR_FAIL(turn, Json times, turn.value(repeat.over, "times", 0));
      if (!times.is_integer()) {
        return turn.fail(turn.failure(
            FailureClass::expression, "no_such_overload",
            std::string("times needs a whole number, not ") + to_string(times.kind()) + " (" + turn.step.path + ")"));
      }
      data.set("times", std::move(times));
      break;
    }
    case RepeatStep::Kind::while_true: break;
  }
  turn.remember(std::move(data));
  turn.continue_step();
}

void resume(Turn& turn, const RepeatStep& repeat) {
  const std::int64_t round = round_of(turn);
  bool another = false;
  switch (repeat.kind) {
    case RepeatStep::Kind::for_each: another = static_cast<std::size_t>(round) < turn.data()["items"].size(); break;
    case RepeatStep::Kind::times: {
      const Json& times = turn.data()["times"];
      another = times.is_integer() && round < times.as_integer();
      break;
    }
    case RepeatStep::Kind::while_true: {
      auto holds = turn.condition(*repeat.condition, "while");
      // The frame stays, so a retry repeats this round instead of restarting the loop.
      if (!holds) return turn.machine.raise(turn.strand, std::move(holds).error());
      another = *holds;
      break;
    }
  }
  if (!another) return turn.end();
  if (repeat.max && round >= *repeat.max) {
    return turn.machine.raise(turn.strand,
                              turn.failure(FailureClass::definition, "repeat_max",
                                           "round " + std::to_string(round + 1) + " would begin, but max is " +
                                               std::to_string(*repeat.max) + " (" + turn.step.path + ")"));
  }
  turn.enter(repeat.body);
}

void lane_ended(Turn& turn, const RepeatStep&, BlockIndex) {
  turn.remember("index", round_of(turn) + 1);
  turn.continue_step();
}

}  // namespace cairn
