// Steps that hold lanes: branches, loops, parallel, first, try.
#include "workflow_source.h"

namespace cairn::sim {

Json WorkflowSource::if_step(const Place& place) {
  Json made = Json::object({{"if", expressions_.condition(place.names)}, {"then", nested(place)}});
  if (dice_.chance(60)) made.set("else", nested(place));
  return made;
}

Json WorkflowSource::switch_step(const Place& place) {
  Json::Array cases;
  const int count = dice_.between(1, 3);
  for (int i = 0; i < count; ++i) {
    cases.push_back(Json::object({{"when", expressions_.condition(place.names)}, {"steps", nested(place, 2)}}));
  }
  if (dice_.chance(60)) cases.push_back(Json::object({{"default", nested(place, 2)}}));
  return Json::object({{"switch", cases}});
}

Json WorkflowSource::repeat_step(const Place& place) {
  // Loops in loops multiply; two levels are enough to tell their rounds apart.
  if (place.loops >= 2) return if_step(place);
  Json repeat = Json::object();
  Place round = place;
  ++round.loops;
  ++round.depth;
  round.names.index = true;
  switch (dice_.below(3)) {
    case 0: {
      Json::Array items;
      const int count = dice_.between(0, 3);
      for (int i = 0; i < count; ++i) items.push_back(ExpressionSource::of(expressions_.integer(place.names, 1)));
      repeat.set("for_each", items);
      std::string name = "item";
      if (dice_.chance(50)) {
        name = place.loops == 0 || dice_.chance(50) ? "each" : "other";
        repeat.set("as", name);
      }
      // `as` takes the place of `item`, of an outer loop's too only when the names are equal.
      std::erase(round.names.items, name);
      round.names.items.push_back(name);
      break;
    }
    case 1: {
      Names names = place.names;
      names.index = true;
      repeat.set("while", dice_.chance(50) ? "index < " + std::to_string(dice_.between(0, 3))
                                           : expressions_.condition(names, 1));
      repeat.set("max", dice_.between(2, 4));
      break;
    }
    default: {
      const bool literal = dice_.chance(60);
      const int times = dice_.between(0, 3);
      // A state's number may be anything by then: `max` keeps the loop short, and reaches `repeat_max`.
      repeat.set("times", literal ? Json(times) : ExpressionSource::of(expressions_.integer(place.names, 0)));
      if (!literal) repeat.set("max", dice_.between(2, 4));
      break;
    }
  }
  repeat.set("steps", lane(round, 3));
  return Json::object({{"repeat", repeat}});
}

Json WorkflowSource::parallel_step(const Place& place) {
  Json::Array branches;
  const int count = dice_.between(2, 4);
  for (int i = 0; i < count; ++i) {
    branches.push_back(Json::object({{"name", "b" + std::to_string(i)}, {"steps", nested(place)}}));
  }
  Json parallel = Json::object({{"branches", branches}});
  switch (dice_.below(4)) {
    case 0: parallel.set("join", "any"); break;
    case 1: parallel.set("join", dice_.between(1, count)); break;
    case 2: parallel.set("join", "all"); break;
    default: break;
  }
  return Json::object({{"parallel", parallel}});
}

Json WorkflowSource::first_step(const Place& place) {
  Json::Array options;
  const int count = dice_.between(1, 3);
  for (int i = 0; i < count; ++i) {
    Json option = Json::object();
    Place won = place;
    switch (dice_.below(3)) {
      case 0:
        option.set("task", task_fields(place, true));
        won.names.task = won.names.completion = true;
        break;
      case 1:
        option.set("signal", signal_fields(place, true));
        won.names.signal = true;
        break;
      default: option.set("wait", wait_value(place)); break;
    }
    if (dice_.chance(70)) option.set("steps", nested(won, 2));
    options.push_back(option);
  }
  return Json::object({{"first", options}});
}

Json::Array WorkflowSource::completing_body(const Place& place) {
  Json::Array body;
  if (dice_.chance(50)) body = lane(place, 2);
  Json complete = complete_step(place);
  complete.set("id", "a" + std::to_string(++ids_));
  if (dice_.chance(30)) complete.set("when", expressions_.condition(place.names));
  body.push_back(complete);
  return body;
}

Json WorkflowSource::completing_try(const Place& place) {
  Place last = place;
  last.names.error = false;
  Json waiting = wait_step(last);
  waiting.set("id", "a" + std::to_string(++ids_));
  Json::Array steps = {waiting};
  if (dice_.chance(30)) {
    steps.push_back(fail_step(last));
    steps.back().set("id", "a" + std::to_string(++ids_));
  }
  Json made = Json::object({{"try", completing_body(place)}, {"finally", steps}});
  made.set("id", "a" + std::to_string(++ids_));
  if (!dice_.chance(50)) return made;
  // An error of the `finally` replaces the `complete`, and this catches it.
  Json around =
      Json::object({{"try", Json::array({made})}, {"catch", Json::array({Json::object({{"steps", Json::array()}})})}});
  around.set("id", "a" + std::to_string(++ids_));
  return around;
}

Json WorkflowSource::try_step(const Place& place) {
  Place tried = place;
  ++tried.depth;
  const bool completes = theme_ == Theme::endings && !place.compensating && dice_.chance(35);
  Json::Array body = completes ? completing_body(tried) : lane(tried, 3);
  if (!completes && dice_.chance(25)) {
    body.push_back(fail_step(tried));
    body.back().set("id", "a" + std::to_string(++ids_));
  }
  Json made = Json::object({{"try", body}});
  const bool catches = dice_.chance(75);
  if (catches) {
    Place caught = place;
    caught.names.error = true;
    Json::Array entries;
    const int count = dice_.between(1, 2);
    for (int i = 0; i < count; ++i) {
      Json one = Json::object({{"steps", nested(caught)}});
      if (dice_.chance(50)) one.set("when", expressions_.condition(caught.names, 1));
      entries.push_back(one);
      if (!one.find("when")) break;  // what follows could never run
    }
    made.set("catch", entries);
  }
  if (!catches || completes || dice_.chance(45)) {
    Place last = place;
    last.names.error = false;
    Json::Array steps = nested(last, 2);
    if (theme_ == Theme::endings && dice_.chance(60)) {
      Json waiting = dice_.chance(60) ? wait_step(last) : signal_step(last);
      waiting.set("id", "a" + std::to_string(++ids_));
      steps.insert(steps.begin(), waiting);
    }
    made.set("finally", steps);
  }
  return made;
}

}  // namespace cairn::sim
