#include "definition/step_kinds.h"

namespace cairn {
namespace {

const Key fail_keys[] = {
    {"code", Shape::label, "What `error.code` says.", true},
    {"message", Shape::text_value, "What people read."},
    {"details", Shape::value, "Further data."},
};
const KeyTable fail_table{"failure", fail_keys};

const Key fail_step_keys[] = {
    {"fail", Shape::object, "Ends the instance as failed, unless a `try` catches it.", true, std::nullopt, &fail_table},
};

StepBody read_fail(Fields& outer) {
  FailStep step;
  const auto at = outer.find("fail");
  if (!at) return step;
  Fields fields(outer.site(), *at, fail_table);
  step.code = fields.text("code").value_or("");
  step.message = fields.value("message");
  step.details = fields.value("details");
  outer.put("fail", fields.take());
  return step;
}

}  // namespace

const StepKind fail_kind{"fail", "Raises a business error.", fail_step_keys, read_fail};

}  // namespace cairn
