#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key catch_keys[] = {
    {"when", Shape::condition, "Takes only errors for which this is true; sees `error`. Without it every error."},
    {"steps", Shape::steps, "Handles the error; sees `error`.", true},
};
const KeyTable catch_table{"catch", catch_keys};

const Key try_keys[] = {
    {"try", Shape::some_steps, "The steps whose errors are handled.", true},
    {"catch", Shape::maybe_objects, "Handlers in order; the first that matches runs.", false, Json::array(),
     &catch_table},
    {"finally", Shape::steps, "Runs once on every way out.", false, Json::array()},
};

void read_catches(Fields& fields, TryStep& step) {
  const auto list = fields.list("catch");
  if (!list) return;
  const Scope handling = fields.site().scope.with_error();
  const Site site = fields.site().with(handling);
  Json::Array written;
  std::size_t unreached = list->node().items.size();  // the first entry after one that handles every error
  for (std::size_t i = 0; i < list->node().items.size(); ++i) {
    const Cursor at = list->item(i);
    if (i == unreached) site.draft.warning(at, "this entry never runs: the one before it takes every error");
    Fields entry(site, at, catch_table);
    TryStep::Catch held;
    held.when = entry.condition("when");
    held.steps = entry.steps("steps", "catch" + std::to_string(i));
    if (!held.when && i < unreached) unreached = i + 1;
    step.catches.push_back(std::move(held));
    written.push_back(entry.take());
  }
  fields.put("catch", Json(std::move(written)));
}

StepBody read_try(Fields& fields) {
  TryStep step;
  if (!fields.find("catch") && !fields.find("finally")) {
    fields.site().draft.error_at_key(fields.at(), "`try` needs `catch`, `finally` or both");
  }
  step.body = fields.steps("try", "try");
  read_catches(fields, step);
  step.finally_block = fields.steps("finally", "finally", fields.site().scope.without_error());
  return step;
}

}  // namespace

const StepKind try_kind{"try", "Handles errors by class or condition.", try_keys, read_try};

}  // namespace cairn
