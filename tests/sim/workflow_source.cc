#include "workflow_source.h"

#include <algorithm>

namespace cairn::sim {

namespace {

void remember(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

Json entry(const std::string& path, Json value) { return Json::object({{"path", path}, {"value", std::move(value)}}); }

}  // namespace

WorkflowSource::WorkflowSource(Dice& dice, const CaseBounds& bounds, std::vector<std::string> children,
                               CaseHints& hints)
    : dice_(dice), bounds_(bounds), children_(std::move(children)), hints_(hints), expressions_(dice) {}

Json WorkflowSource::definition(const std::string& name) {
  // Weights of the kinds are drawn anew for each definition: some are all timers, some all children.
  static const std::vector<int> usual = {10, 8, 2, 9, 8, 6, 4, 7, 7, 7, 5, 7, 5, 2, 5, 8, 3, 2, 1};
  weights_.clear();
  for (const int weight : usual) weights_.push_back(dice_.chance(20) ? 0 : weight * dice_.between(1, 4));
  weights_.front() = usual.front() * 2;
  if (std::all_of(weights_.begin(), weights_.end(), [](int weight) { return weight == 0; })) weights_ = usual;
  draw_theme();
  ids_ = 0;
  steps_left_ = dice_.between(3, bounds_.steps_max);

  Json source = Json::object({{"cairn", 1}, {"name", name}, {"version", "1.0.0"}});
  static const std::vector<std::string> on_error = {"suspend", "fail", "compensate"};
  source.set("on_error", dice_.pick(on_error));
  if (dice_.chance(15)) source.set("checkpoint", "step");
  if (dice_.chance(40)) {
    source.set("input", Json::object({{"type", "object"}, {"required", Json::array({Json("n"), Json("s")})}}));
  }
  Names outside;
  outside.state = false;
  if (dice_.chance(40)) {
    Json reference = Json::object({{"key", ExpressionSource::of("input.s")}});
    if (dice_.chance(50)) reference.set("parts", Json::object({{"p", ExpressionSource::of("input.n")}}));
    source.set("reference", reference);
  }
  source.set("state", Json::object({{"n0", 0},
                                    {"n1", ExpressionSource::of("input.n")},
                                    {"n2", dice_.between(0, 5)},
                                    {"n3", ExpressionSource::of(expressions_.integer(outside, 1))},
                                    {"c0", 0},
                                    {"s0", "x"},
                                    {"s1", ExpressionSource::of("input.s")},
                                    {"l", Json::array()}}));
  Place top;
  source.set("steps", lane(top, dice_.between(2, 9)));
  if (dice_.chance(80)) {
    source.set("output", Json::object({{"n", ExpressionSource::of("state.n0")},
                                       {"s", ExpressionSource::of("state.s0")},
                                       {"ok", dice_.chance(50)},
                                       {"l", ExpressionSource::of("state.l")},
                                       {"x", expressions_.value(Names{})}}));
  }
  return source;
}

void WorkflowSource::draw_theme() {
  constexpr std::size_t task = 3, parallel = 8, first = 9, wait = 10, signal = 11, tried = 15, complete = 18;
  theme_ = static_cast<Theme>(dice_.weighted({60, 16, 12, 12}));
  switch (theme_) {
    case Theme::none: break;
    case Theme::endings:
      for (const std::size_t kind : {parallel, tried}) weights_[kind] += 40;
      weights_[task] += 15;
      weights_[complete] += 4;
      break;
    case Theme::races:
      for (const std::size_t kind : {parallel, first, wait, signal}) weights_[kind] += 25;
      break;
    case Theme::conflicts: weights_[signal] += 20; break;
  }
}

Json::Array WorkflowSource::lane(const Place& place, int length_max) {
  Json::Array steps;
  const int length = place.depth == 0 ? length_max : dice_.between(1, length_max);
  for (int i = 0; i < length; ++i) {
    if (i > 0 && steps_left_ <= 0) break;
    // No step takes the whole budget, so that later steps are reached too.
    const int share = std::max(1, steps_left_ * 2 / (length - i + 1));
    const int reserved = std::max(0, steps_left_ - share);
    steps_left_ -= reserved;
    steps.push_back(step(place));
    steps_left_ += reserved;
  }
  return steps;
}

Json::Array WorkflowSource::nested(const Place& place, int length_max) {
  if (dice_.chance(8)) return {};
  Place inner = place;
  ++inner.depth;
  return lane(inner, length_max);
}

Json WorkflowSource::step(const Place& place) {
  --steps_left_;
  const std::string id = "a" + std::to_string(++ids_);
  Json made = bare_step(place);
  made.set("id", id);
  if (dice_.chance(10)) made.set("when", expressions_.condition(place.names));
  const bool ends = made.find("fail") || made.find("complete") || made.find("undo");
  if (!place.compensating && !ends && dice_.chance(made.find("set") ? 20 : 10)) {
    Place undo = place;
    undo.compensating = true;
    undo.names.completion = undo.names.task = undo.names.signal = undo.names.error = false;
    ++undo.depth;
    Json::Array steps = {trace_step(undo)};
    steps.front().set("id", "a" + std::to_string(++ids_));
    if (dice_.chance(40)) steps.push_back(step(undo));
    if (dice_.chance(10)) {
      steps.push_back(Json::object({{"id", "a" + std::to_string(++ids_)},
                                    {"set", Json::array({entry("n0", ExpressionSource::of("state.r1.n"))})}}));
    }
    made.set("compensate", steps);
  }
  return made;
}

Json WorkflowSource::bare_step(const Place& place) {
  if (steps_left_ <= 0 || place.depth >= bounds_.depth_max) {
    switch (dice_.below(5)) {
      case 0: return wait_step(place);
      case 1: return emit_step(place);
      case 2: return set_step(place);
      default: return trace_step(place);
    }
  }
  switch (dice_.weighted(weights_)) {
    case 0: return trace_step(place);
    case 1: return set_step(place);
    case 2: return reference_step(place);
    case 3: return task_step(place);
    case 4: return call_step(place);
    case 5: return if_step(place);
    case 6: return switch_step(place);
    case 7: return repeat_step(place);
    case 8: return parallel_step(place);
    case 9: return first_step(place);
    case 10: return wait_step(place);
    case 11: return signal_step(place);
    case 12: return subworkflow_step(place);
    case 13: return continue_step(place);
    case 14: return emit_step(place);
    case 15: return try_step(place);
    case 16: return undo_step(place);
    case 17: return fail_step(place);
    default: return complete_step(place);
  }
}

// `state.l` shows which steps ran and in which order.
Json WorkflowSource::trace_step(const Place& place) {
  std::string what = dice_.chance(60) ? "\"" + std::to_string(ids_) + "\"" : expressions_.integer(place.names, 1);
  if (place.names.index && dice_.chance(40)) what = "index";
  return Json::object({{"set", Json::array({entry("l", ExpressionSource::of("state.l + [" + what + "]"))})}});
}

Json WorkflowSource::set_step(const Place& place) {
  Json::Array entries;
  const int count = dice_.between(1, 3);
  for (int i = 0; i < count; ++i) {
    switch (dice_.below(10)) {
      case 0: entries.push_back(entry("s0", ExpressionSource::of(expressions_.text(place.names)))); break;
      case 1: entries.push_back(entry("o.a", expressions_.value(place.names))); break;
      case 2: entries.push_back(entry("o.b.c", ExpressionSource::of(expressions_.integer(place.names)))); break;
      case 3:
        // Through a number: a path conflict, now and then.
        entries.push_back(entry(dice_.chance(10) ? "n0.x" : "t", ExpressionSource::of("now")));
        break;
      case 4: entries.push_back(entry("r" + std::to_string(dice_.below(3)), expressions_.value(place.names))); break;
      default:
        entries.push_back(
            entry("n" + std::to_string(dice_.below(4)), ExpressionSource::of(expressions_.integer(place.names))));
    }
  }
  return Json::object({{"set", entries}});
}

Json WorkflowSource::reference_step(const Place& place) {
  Json reference = Json::object();
  if (dice_.chance(70)) reference.set("key", ExpressionSource::of(expressions_.text(place.names)));
  if (reference.size() == 0 || dice_.chance(50)) {
    reference.set("parts", Json::object({{"q", ExpressionSource::of(expressions_.integer(place.names))}}));
  }
  return Json::object({{"reference", reference}});
}

Json WorkflowSource::emit_step(const Place& place) {
  Json emit = Json::object({{"type", "ev." + std::to_string(dice_.below(4))}});
  if (dice_.chance(40)) emit.set("subject", ExpressionSource::of(expressions_.text(place.names)));
  if (dice_.chance(80)) emit.set("data", expressions_.value(place.names));
  return Json::object({{"emit", emit}});
}

Json WorkflowSource::undo_step(const Place& place) {
  if (place.compensating) return trace_step(place);
  return Json::object({{"undo", Json::object()}});
}

Json WorkflowSource::fail_step(const Place& place) {
  Json fail = Json::object({{"code", "c" + std::to_string(dice_.below(4))}});
  if (dice_.chance(50)) fail.set("message", ExpressionSource::of(expressions_.text(place.names)));
  if (dice_.chance(50)) fail.set("details", expressions_.value(place.names));
  return Json::object({{"fail", fail}});
}

Json WorkflowSource::complete_step(const Place& place) {
  Json complete = Json::object();
  if (dice_.chance(60)) complete.set("output", expressions_.value(place.names));
  return Json::object({{"complete", complete}});
}

Json WorkflowSource::duration() {
  static const std::vector<std::string> lengths = {"1s", "2s", "5s", "10s", "30s", "1m", "90s", "1h", "1d"};
  return Json(dice_.pick(lengths));
}

std::string WorkflowSource::result_path() {
  // Through a number: the result cannot be assigned until an operator has removed it.
  if (theme_ == Theme::conflicts && dice_.chance(25)) return "c0.x";
  return dice_.chance(92) ? "r" + std::to_string(dice_.below(3)) : "o.res";
}

Json WorkflowSource::child_input(const Place& place) {
  Json input = Json::object({{"n", ExpressionSource::of(expressions_.integer(place.names, 1))},
                             {"s", ExpressionSource::of(expressions_.text(place.names))},
                             {"ok", dice_.chance(50)}});
  // A member that the child's schema or expressions require.
  if (dice_.chance(6)) input.erase("s");
  return input;
}

Json WorkflowSource::subworkflow_step(const Place& place) {
  if (children_.empty()) return emit_step(place);
  Json fields = Json::object({{"name", dice_.chance(92) ? dice_.pick(children_) : std::string("nobody.knows")},
                              {"input", child_input(place)}});
  if (dice_.chance(30)) fields.set("version", "1.0.0");
  if (dice_.chance(20)) {
    fields.set("reference", Json::object({{"key", ExpressionSource::of(expressions_.text(place.names))}}));
  }
  if (dice_.chance(60)) fields.set("result", result_path());
  if (dice_.chance(45)) {
    Place failed = place;
    failed.names.error = true;
    fields.set("on_failure", nested(failed));
  }
  return Json::object({{"subworkflow", fields}});
}

Json WorkflowSource::continue_step(const Place& place) {
  if (children_.empty() || place.loops > 1) return emit_step(place);
  return Json::object(
      {{"continue_with", Json::object({{"name", dice_.pick(children_)}, {"input", child_input(place)}})}});
}

Json WorkflowSource::call_step(const Place& place) {
  Json call = Json::object();
  if (dice_.chance(15)) {
    call.set("http",
             Json::object(
                 {{"method", "POST"}, {"url", "http://service.test/x"}, {"body", expressions_.value(place.names)}}));
    remember(hints_.worker_types, "cairn.http.v1");
  } else {
    const std::string type = "work.t" + std::to_string(dice_.below(3)) + ".v1";
    remember(hints_.worker_types, type);
    Json worker = Json::object({{"type", type}});
    if (dice_.chance(85)) worker.set("payload", expressions_.value(place.names));
    call.set("worker", worker);
  }
  if (dice_.chance(40)) call.set("timeout", duration());
  if (dice_.chance(25)) {
    call.set("retry", "none");
  } else if (dice_.chance(50)) {
    call.set("retry", Json::object({{"attempts", dice_.between(1, 4)},
                                    {"backoff", duration()},
                                    {"factor", dice_.between(1, 3)},
                                    {"cap", "1h"}}));
  }
  if (dice_.chance(60)) call.set("result", result_path());
  if (dice_.chance(40)) {
    Place failed = place;
    failed.names.error = true;
    call.set("on_failure", nested(failed));
  }
  if (dice_.chance(35)) call.set("on_timeout", nested(place));
  return Json::object({{"call", call}});
}

Json WorkflowSource::task_fields(const Place& place, bool in_first) {
  const std::string name = "T" + std::to_string(dice_.below(4));
  remember(hints_.task_names, name);
  Json fields = Json::object({{"name", name}});
  if (dice_.chance(40)) fields.set("title", ExpressionSource::of("\"Do \" + " + expressions_.text(place.names)));
  if (dice_.chance(30)) fields.set("roles", Json::array({Json("clerk")}));
  if (dice_.chance(30)) {
    fields.set("exclude",
               dice_.chance(60) ? Json::array({Json("mallory")}) : ExpressionSource::of("[\"mallory\", state.s0]"));
  }
  if (dice_.chance(60)) fields.set("payload", expressions_.value(place.names));
  if (dice_.chance(40)) {
    fields.set("form", Json::object({{"type", "object"}, {"required", Json::array({Json("ok")})}}));
  }
  if (dice_.chance(25)) {
    Names answered = place.names;
    answered.completion = answered.task = true;
    fields.set("require", Json::array({Json(expressions_.condition(answered, 1))}));
  }
  if (dice_.chance(60)) fields.set("result", result_path());
  if (dice_.chance(15)) fields.set("priority", dice_.between(-2, 9));
  if (dice_.chance(20)) fields.set("due", duration());
  if (dice_.chance(15)) fields.set("assignee", "ann");
  if (dice_.chance(20)) fields.set("remind", Json::array({Json("3s"), Json("45s")}));
  if (dice_.chance(45)) {
    Place done = place;
    done.names.completion = done.names.task = true;
    fields.set("on_complete", nested(done));
  }
  if (!in_first && dice_.chance(40)) {
    Place late = place;
    late.names.task = true;
    late.names.completion = false;
    Json deadline = Json::object({{"after", duration()}});
    const bool completes = theme_ == Theme::endings && steps_left_ > 0 && dice_.chance(50);
    if (completes) {
      ++late.depth;
      deadline.set("steps", Json::array({completing_try(late)}));
    } else {
      deadline.set("steps", nested(late));
    }
    if (completes || dice_.chance(45)) deadline.set("interrupt", false);
    fields.set("deadline", deadline);
  }
  return fields;
}

Json WorkflowSource::task_step(const Place& place) { return Json::object({{"task", task_fields(place, false)}}); }

Json WorkflowSource::wait_value(const Place& place) {
  switch (dice_.below(6)) {
    case 0:
      return Json::object(
          {{"until", ExpressionSource::of("now + duration(\"" + std::string(duration().as_string()) + "\")")}});
    case 1:
      return ExpressionSource::of(expressions_.condition(place.names, 0) + " ? duration(\"0s\") : duration(\"4s\")");
    default: return duration();
  }
}

Json WorkflowSource::wait_step(const Place& place) { return Json::object({{"wait", wait_value(place)}}); }

Json WorkflowSource::signal_fields(const Place& place, bool in_first) {
  const std::string name = "sig" + std::to_string(dice_.below(3));
  remember(hints_.signal_names, name);
  Json fields = Json::object({{"name", name}});
  if (dice_.chance(40)) {
    fields.set("key", dice_.chance(70) ? Json("key1") : ExpressionSource::of(expressions_.text(place.names)));
  }
  if (dice_.chance(theme_ == Theme::races ? 60 : 30)) {
    Names received = place.names;
    received.signal = true;
    fields.set("where", expressions_.condition(received, 1));
  }
  if (dice_.chance(60)) fields.set("result", result_path());
  if (!in_first && dice_.chance(50)) {
    fields.set("timeout", duration());
    if (dice_.chance(60)) fields.set("on_timeout", nested(place));
  }
  return fields;
}

Json WorkflowSource::signal_step(const Place& place) { return Json::object({{"signal", signal_fields(place, false)}}); }

}  // namespace cairn::sim
