#include "interpreter/turn.h"

#include <algorithm>

#include "interpreter/failures.h"
#include "interpreter/reference.h"

namespace cairn {
namespace {

std::string_view text_of(const Template& source) {
  const expr::Expression* single = source.single();
  return single ? std::string_view(single->text()) : std::string_view();
}

std::string_view text_of(const expr::Expression& source) { return source ? source.text() : std::string_view(); }

// Signals and times that a step waits for have no rows that stay, so the log says what they were. Tasks, runs and
// children have rows of their own.
Json waits_for_log(const ActiveStrand& strand, const std::vector<Wait>& opened) {
  Json::Array waits;
  waits.reserve(strand.waits.size());
  for (const WaitToken& token : strand.waits) {
    const auto found =
        std::find_if(opened.rbegin(), opened.rend(), [&](const Wait& wait) { return wait.token == token; });
    if (found == opened.rend()) continue;
    const Wait& wait = *found;
    const bool has_own_row = !wait.target.empty();
    if (has_own_row && token == strand.waits.front()) return {};
    Json::Members said;  // by key, so that they need no sorting
    said.reserve(4);
    if (has_own_row) said.emplace_back("id", Json(wait.target));
    if (!wait.key.is_null()) said.emplace_back("key", wait.key);
    said.emplace_back("kind", Json(to_string(wait.kind)));
    if (!wait.name.empty()) said.emplace_back("name", Json(wait.name));
    if (wait.until) said.emplace_back("until", Json(format_timestamp(*wait.until)));
    waits.push_back(Json::object(std::move(said)));
  }
  Json::Members details;
  details.reserve(3);  // the machine may add the steps that ran
  details.emplace_back("waits", Json(std::move(waits)));
  return Json::object(std::move(details));
}

}  // namespace

bool Turn::remembers() const {
  const ActiveFrame& frame = strand.frames.back();
  return frame.kind == ActiveFrame::Kind::step && frame.index == index;
}

void Turn::remember(Json data) {
  if (remembers()) {
    strand.top().data = std::move(data);
    machine.scope().forget();
  } else {
    machine.push_step(strand, index, std::move(data));
  }
}

void Turn::remember(std::string_view key, Json value) {
  Json& held = strand.top().data;
  // A stored frame may hold any JSON. A value that is not an object has nothing to keep.
  if (!held.is_object()) held = Json::object();
  held.set(key, std::move(value));
  machine.scope().forget();
}

void Turn::end() {
  if (!remembers()) return machine.end_step(strand, {}, {});
  ActiveFrame& frame = strand.top();
  std::string visit = frame.visit.str();
  // Tasks, runs and children keep their results. Only the log has what a signal brought.
  Json result;
  if (!visit.empty() && std::holds_alternative<SignalStep>(step.body)) {
    result = std::move(arrived);
  } else if (!visit.empty() && std::holds_alternative<FirstStep>(step.body) && frame.data.is_object()) {
    const Json* signal = frame.data.find("signal");
    const Json* won = signal ? signal : frame.data.find("completion");
    if (won) result = *won;
  }
  machine.pop(strand);
  machine.end_step(strand, std::move(visit), std::move(result));
}

void Turn::fail(Failure failure) {
  std::string visit = machine.visit_of(strand, failure.step);
  machine.unwind(strand, strand.frames.size() - (remembers() ? 1 : 0));
  machine.make_ready(strand);
  machine.raise(strand, std::move(failure), std::move(visit));
}

void Turn::enter(BlockIndex lane) {
  if (lane == no_index) return end();
  machine.push_block(strand, lane);
}

void Turn::rest() {
  strand.ready = false;
  if (strand.waits.empty()) return;
  // After an incident the step may continue with the waits that it has: that is the same visit.
  const std::vector<Wait>& opened = machine.out().waits_opened;
  const auto is_first = [&](const Wait& wait) { return wait.token == strand.waits.front(); };
  const auto first = std::find_if(opened.rbegin(), opened.rend(), is_first);
  if (first == opened.rend()) return;
  strand.top().visit = {};
  machine.log(LogEntry::Kind::started, step.id, waits_for_log(strand, opened), 1, visit_named_by(*first));
}

void Turn::keep_waiting() { strand.ready = false; }

void Turn::fail_to_lane(Failure failure, BlockIndex on_timeout, BlockIndex on_failure) {
  const bool timed_out = failure.failure_class == FailureClass::timeout && on_timeout != no_index;
  const BlockIndex lane = timed_out ? on_timeout : on_failure;
  if (lane == no_index) return fail(std::move(failure));
  machine.log(LogEntry::Kind::faulted, step.id, to_json(failure), failure.attempt, machine.visit_of(strand, step.id));
  // `on_timeout` defines no `error`. Inside a catch it sees the error that was caught there.
  remember(timed_out ? Json::object() : Json::object({{"error", error_in_scope(failure)}}));
  enter(lane);
}

Failure Turn::failure(FailureClass failure_class, std::string code, std::string message, Json details) const {
  return make_failure(machine.program(), &step, failure_class, std::move(code), std::move(message), std::move(details));
}

Result<Json, Failure> Turn::value(const Template& source, const char* what) {
  if (const Json* constant = source.constant()) return *constant;
  auto evaluated = source.evaluate(machine.scope().bind(strand), machine.budget());
  if (!evaluated) return expression_failure(machine.program(), &step, evaluated.error(), what, text_of(source));
  return machine.bounded(&step, std::move(evaluated).value(), what);
}

Result<Json, Failure> Turn::sealed_value(const Template& source, const char* what) {
  auto evaluated = source.evaluate_sealed(machine.scope().bind(strand), machine.budget());
  if (!evaluated) return expression_failure(machine.program(), &step, evaluated.error(), what, text_of(source));
  return machine.bounded(&step, std::move(evaluated).value(), what);
}

Result<Json, Failure> Turn::value(const std::optional<Template>& source, const char* what, Json otherwise) {
  if (!source) return otherwise;
  return value(*source, what);
}

Result<std::string, Failure> Turn::text(const Template& source, const char* what) {
  CAIRN_TRY(const Json evaluated, value(source, what));
  if (evaluated.is_string()) return std::string(evaluated.as_string());
  if (evaluated.is_number() || evaluated.is_bool()) return write_json(evaluated);
  return failure(FailureClass::expression, "invalid_argument",
                 std::string(what) + " must be text, not " + to_string(evaluated.kind()) + " (" + step.path + ")");
}

Result<std::vector<std::string>, Failure> Turn::texts(const std::optional<Template>& source, const char* what) {
  std::vector<std::string> found;
  if (!source) return found;
  CAIRN_TRY(const Json evaluated, value(*source, what));
  if (evaluated.is_string()) {
    found.emplace_back(evaluated.as_string());
    return found;
  }
  bool fits = evaluated.is_array();
  if (fits) {
    for (const Json& item : evaluated.items()) {
      fits = fits && item.is_string();
      if (fits) found.emplace_back(item.as_string());
    }
  }
  if (fits) return found;
  return failure(FailureClass::expression, "invalid_argument",
                 std::string(what) + " must be a list of texts (" + step.path + ")");
}

Result<bool, Failure> Turn::condition(const expr::Expression& source, const char* what) {
  auto holds = source.evaluate_condition(machine.scope().bind(strand), machine.budget());
  if (!holds) return expression_failure(machine.program(), &step, holds.error(), what, source.text());
  return *holds;
}

Result<Duration, Failure> Turn::duration(const DurationTemplate& source, const char* what) {
  if (source.literal) return *source.literal;
  auto length = source.evaluate(machine.scope().bind(strand), machine.budget());
  if (!length) {
    return expression_failure(machine.program(), &step, length.error(), what, text_of(source.expression));
  }
  return *length;
}

Result<Timestamp, Failure> Turn::instant(const TimeTemplate& source, const char* what) {
  if (source.literal) return *source.literal;
  auto at = source.evaluate(machine.scope().bind(strand), machine.budget());
  if (!at) return expression_failure(machine.program(), &step, at.error(), what, text_of(source.expression));
  return *at;
}

Result<Timestamp, Failure> Turn::after(const DurationTemplate& source, const char* what) {
  CAIRN_TRY(const Duration length, duration(source, what));
  if (const auto at = add(machine.now(), length)) return *at;
  return failure(FailureClass::expression, "overflow",
                 std::string(what) + " ends after the year 9999 (" + step.path + ")");
}

Result<Timestamp, Failure> Turn::due(const std::optional<DurationTemplate>& length,
                                     const std::optional<TimeTemplate>& at, const char* what) {
  if (length) return after(*length, what);
  if (at) return instant(*at, what);
  return machine.now();
}

Result<Reference, Failure> Turn::reference(const ReferenceTemplate& source, const Reference& before) {
  CAIRN_TRY(Reference made, evaluate_reference(machine.program(), &step, source, before, machine.scope().bind(strand),
                                               machine.budget()));
  CAIRN_TRY(made.key, machine.bounded_key(&step, std::move(made.key), "reference.key"));
  CAIRN_TRY(made.parts, machine.bounded(&step, std::move(made.parts), "reference.parts"));
  return made;
}

bool Turn::take_result(const std::optional<StatePath>& path, Json arrived, BlockIndex on_failure) {
  if (!path) return true;
  auto assigned = machine.assign(&step, *path, arrived);
  if (assigned) {
    if (kept_result()) {
      strand.top().data.erase("arrived");
      machine.scope().forget();
    }
    return true;
  }
  if (on_failure != no_index) {
    fail_to_lane(std::move(assigned).error(), no_index, on_failure);
    return false;
  }
  if (!remembers()) remember(Json::object());
  remember("arrived", std::move(arrived));
  machine.make_ready(strand);
  machine.raise(strand, std::move(assigned).error());
  return false;
}

WaitToken Turn::open_timer(Timestamp until) {
  Wait wait;
  wait.kind = WaitKind::timer;
  wait.step = step.id;
  wait.until = until;
  return machine.open_wait(strand, std::move(wait));
}

}  // namespace cairn
