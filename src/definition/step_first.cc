#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

constexpr std::string_view option_kinds[] = {"signal", "wait", "task"};
const Key option_keys[] = {
    {"signal", Shape::object, "Waits for an external signal.", false, std::nullopt, &signal_table},
    {"wait", Shape::wait, "Waits for a time.", false, std::nullopt, &wait_table},
    {"task", Shape::object, "Waits for a person.", false, std::nullopt, &task_table},
    {"steps", Shape::steps, "Runs when this option wins.", false, Json::array()},
};
const KeyTable option_table{"option", option_keys, option_kinds};

const Key first_keys[] = {
    {"first", Shape::objects, "Opens all waits; the first that fires wins.", true, std::nullopt, &option_table},
};

FirstStep::Option read_option(Fields& entry, const std::string& lane) {
  FirstStep::Option option;
  const Scope& scope = entry.site().scope;
  const std::string_view kind = entry.chosen();
  if (kind == "signal") {
    option.wait = read_signal(entry, "signal", true);
    option.steps = entry.steps("steps", lane, scope.with_signal());
  } else if (kind == "wait") {
    option.wait = read_wait(entry, "wait");
    option.steps = entry.steps("steps", lane);
  } else if (kind == "task") {
    option.wait = read_task(entry, "task", lane);
    option.steps = entry.steps("steps", lane, scope.with_completion(completion_type(entry, "task")));
  } else {
    option.steps = entry.steps("steps", lane);
  }
  return option;
}

StepBody read_first(Fields& fields) {
  FirstStep step;
  const auto list = fields.list("first");
  if (!list) return step;
  Json::Array written;
  for (std::size_t i = 0; i < list->node().items.size(); ++i) {
    Fields entry(fields.site(), list->item(i), option_table);
    step.options.push_back(read_option(entry, "option" + std::to_string(i)));
    written.push_back(entry.take());
  }
  fields.put("first", Json(std::move(written)));
  return step;
}

}  // namespace

const StepKind first_kind{"first", "Opens several waits; the first that fires wins and the others go stale.",
                          first_keys, read_first};

}  // namespace cairn
