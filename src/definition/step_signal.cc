#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

const Key signal_keys[] = {
    {"name", Shape::signal_name, "The signal's name.", true},
    {"key", Shape::value, "Takes only signals with exactly this key; without it any."},
    {"where", Shape::condition, "Takes only signals for which this is true; sees `signal`."},
    {"result", Shape::path, "Where in state the payload goes."},
    {"timeout", Shape::duration, "How long to wait."},
    {"on_timeout", Shape::steps, "Runs when no signal came in time."},
};

const Key signal_step_keys[] = {
    {"signal", Shape::object, "Waits for an external signal; one that came early is kept and used.", true, std::nullopt,
     &signal_table},
};

StepBody read_signal(Fields& fields) {
  SignalStep step;
  step.signal = read_signal(fields, "signal", false);
  return step;
}

}  // namespace

const KeyTable signal_table{"signal", signal_keys};

SignalSpec read_signal(Fields& outer, std::string_view key, bool in_first) {
  SignalSpec signal;
  const auto at = outer.find(key);
  if (!at) return signal;
  Fields fields(outer.site(), *at, signal_table);
  Draft& draft = outer.site().draft;
  signal.name = fields.text("name").value_or("");
  draft.program.signal_names.insert(signal.name);
  signal.key = fields.value("key");
  signal.where = fields.condition("where", outer.site().scope.with_signal());
  signal.result = read_result(fields);
  if (in_first) {
    for (const char* name : {"timeout", "on_timeout"}) {
      if (const auto extra = fields.find(name)) {
        draft.findings.error(
            extra->key_at(), extra->pointer(),
            std::string("a signal inside `first` has no `") + name + "`; write a `wait` option beside it");
      }
    }
  } else {
    signal.timeout = fields.duration("timeout");
    signal.on_timeout = fields.steps("on_timeout", "on_timeout");
    if (const auto lane = fields.find("on_timeout");
        lane && !fields.find("timeout") && has_steps(draft, signal.on_timeout)) {
      draft.findings.warning(lane->key_at(), lane->pointer(),
                             "`on_timeout` never runs, because the signal has no `timeout`");
    }
  }
  outer.put(key, fields.take());
  return signal;
}

const StepKind signal_kind{"signal", "Waits for an external signal.", signal_step_keys, read_signal};

}  // namespace cairn
