#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

const Key subworkflow_keys[] = {
    {"name", Shape::workflow_name, "The definition to start.", true},
    {"version", Shape::version, "Exactly this version; without it the newest when the step starts."},
    {"input", Shape::value, "Its input.", false, Json::object()},
    {"reference", Shape::object, "Its business reference; without it this instance's.", false, std::nullopt,
     &reference_table},
    {"result", Shape::path, "Where in state its output goes."},
    {"on_failure", Shape::steps, "Handles the child's error."},
};
const KeyTable subworkflow_table{"subworkflow", subworkflow_keys};

const Key subworkflow_step_keys[] = {
    {"subworkflow", Shape::object, "Starts a child and waits for its output.", true, std::nullopt, &subworkflow_table},
};

StepBody read_subworkflow(Fields& outer) {
  SubworkflowStep step;
  const auto at = outer.find("subworkflow");
  if (!at) return step;
  Fields fields(outer.site(), *at, subworkflow_table);
  step.name = fields.text("name").value_or("");
  if (const auto name = fields.find("name")) {
    outer.site().draft.starts[outer.site().step] = {name->at(), name->pointer()};
  }
  step.version = fields.text("version");
  step.input = fields.value("input");
  step.reference = read_reference(fields, "reference", outer.site().scope);
  step.result = read_result(fields);
  step.on_failure = fields.steps("on_failure", "on_failure", outer.site().scope.with_error());
  outer.put("subworkflow", fields.take());
  return step;
}

}  // namespace

const StepKind subworkflow_kind{"subworkflow", "Starts a child and waits for its output.", subworkflow_step_keys,
                                read_subworkflow};

}  // namespace cairn
