#include "definition/step_kinds.h"
#include "definition/step_parts.h"

namespace cairn {
namespace {

const Key reference_keys[] = {
    {"key", Shape::value, "How people find the instance: an order number, a file number."},
    {"parts", Shape::object_value, "Further names and values to find it by.", false, Json::object()},
};

const Key reference_step_keys[] = {
    {"reference", Shape::object, "Replaces the business reference.", true, std::nullopt, &reference_table},
};

StepBody read_reference(Fields& fields) {
  ReferenceStep step;
  if (auto reference = read_reference(fields, "reference", fields.site().scope)) step.reference = std::move(*reference);
  return step;
}

}  // namespace

const KeyTable reference_table{"reference", reference_keys};

std::optional<ReferenceTemplate> read_reference(Fields& outer, std::string_view key, const Scope& scope) {
  const auto at = outer.find(key);
  if (!at) return std::nullopt;
  Fields fields(outer.site().with(scope), *at, reference_table);
  ReferenceTemplate reference;
  reference.key = fields.value("key");
  reference.parts = fields.value("parts");
  outer.put(key, fields.take());
  return reference;
}

const StepKind reference_kind{"reference", "Replaces the business reference, on the instance and on new tasks.",
                              reference_step_keys, read_reference};

}  // namespace cairn
