#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

const Key continue_keys[] = {
    {"name", Shape::workflow_name, "The definition to start.", true},
    {"version", Shape::version, "Exactly this version; without it the newest when the step runs."},
    {"input", Shape::value, "Its input.", false, Json::object()},
    {"reference", Shape::object, "Its business reference.", false, std::nullopt, &reference_table},
};
const KeyTable continue_table{"continuation", continue_keys};

const Key continue_with_keys[] = {
    {"continue_with", Shape::object, "Starts another instance as an effect; this one continues.", true, std::nullopt,
     &continue_table},
};

StepBody read_continue_with(Fields& outer) {
  ContinueStep step;
  const auto at = outer.find("continue_with");
  if (!at) return step;
  Fields fields(outer.site(), *at, continue_table);
  step.name = fields.text("name").value_or("");
  if (const auto name = fields.find("name")) {
    outer.site().draft.starts[outer.site().step] = {name->at(), name->pointer()};
  }
  step.version = fields.text("version");
  step.input = fields.value("input");
  step.reference = read_reference(fields, "reference", outer.site().scope);
  outer.put("continue_with", fields.take());
  return step;
}

}  // namespace

const StepKind continue_kind{"continue_with", "Starts another instance as an effect; this one continues.",
                             continue_with_keys, read_continue_with};

}  // namespace cairn
