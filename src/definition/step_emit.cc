#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key emit_keys[] = {
    {"type", Shape::text_value, "The CloudEvent's type, as in `loan.decided`.", true},
    {"subject", Shape::text_value, "What the event is about."},
    {"data", Shape::value, "Its data.", false, Json()},
};
const KeyTable emit_table{"event", emit_keys};

const Key emit_step_keys[] = {
    {"emit", Shape::object, "Writes a CloudEvent to the outbox.", true, std::nullopt, &emit_table},
};

StepBody read_emit(Fields& outer) {
  EmitStep step;
  const auto at = outer.find("emit");
  if (!at) return step;
  Fields fields(outer.site(), *at, emit_table);
  step.type = fields.value("type").value_or(Template());
  if (const Json* type = step.type.constant(); type != nullptr && type->is_string() && type->as_string().empty()) {
    outer.site().draft.error(*fields.find("type"), "`type` may not be empty");
  }
  step.subject = fields.value("subject");
  step.data = fields.value("data");
  outer.put("emit", fields.take());
  return step;
}

}  // namespace

const StepKind emit_kind{"emit", "Writes a CloudEvent to the outbox in the same transaction.", emit_step_keys,
                         read_emit};

}  // namespace cairn
