#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key if_keys[] = {
    {"if", Shape::condition, "Decides which branch runs.", true},
    {"then", Shape::steps, "Runs when the condition is true.", true},
    {"else", Shape::steps, "Runs when it is false.", false, Json::array()},
};

StepBody read_if(Fields& fields) {
  IfStep step;
  step.condition = fields.condition("if").value_or(expr::Expression());
  step.then_block = fields.steps("then", "then");
  step.else_block = fields.steps("else", "else");
  return step;
}

}  // namespace

const StepKind if_kind{"if", "One of two branches runs.", if_keys, read_if};

}  // namespace cairn
