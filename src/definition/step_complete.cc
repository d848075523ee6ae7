#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key complete_keys[] = {
    {"output", Shape::value, "The instance's output; without it the definition's."},
};
const KeyTable complete_table{"completion", complete_keys};

const Key complete_step_keys[] = {
    {"complete", Shape::object, "Ends the whole instance from any depth.", true, std::nullopt, &complete_table},
};

StepBody read_complete(Fields& outer) {
  CompleteStep step;
  const auto at = outer.find("complete");
  if (!at) return step;
  Fields fields(outer.site(), *at, complete_table);
  step.output = fields.value("output");
  outer.put("complete", fields.take());
  return step;
}

}  // namespace

const StepKind complete_kind{"complete", "Ends the instance as completed.", complete_step_keys, read_complete};

}  // namespace cairn
