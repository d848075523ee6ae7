#include "interpreter/reference.h"

#include "interpreter/failures.h"

namespace cairn {

Json to_json(const Reference& reference) { return Json::object({{"key", reference.key}, {"parts", reference.parts}}); }

Reference reference_from_json(const Json& value) {
  Reference reference;
  if (value["key"].is_string()) reference.key = value["key"];
  if (value["parts"].is_object()) reference.parts = value["parts"];
  return reference;
}

Result<Reference, Failure> evaluate_reference(const Program& program, const Step* step, const ReferenceTemplate& source,
                                              const Reference& before, expr::Bindings bindings,
                                              const expr::Budget& budget) {
  Reference reference;
  reference.key = before.key;
  if (source.key) {
    auto key = source.key->evaluate(bindings, budget);
    if (!key) {
      const expr::Expression* single = source.key->single();
      return expression_failure(program, step, key.error(), "reference.key", single ? single->text() : "");
    }
    if (key->is_array() || key->is_object()) {
      return make_failure(program, step, FailureClass::expression, "invalid_argument",
                          std::string("reference.key must be text, not ") + to_string(key->kind()));
    }
    reference.key = key->is_string() || key->is_null() ? std::move(*key) : Json(write_json(*key));
  }
  if (source.parts) {
    auto parts = source.parts->evaluate(bindings, budget);
    if (!parts) {
      const expr::Expression* single = source.parts->single();
      return expression_failure(program, step, parts.error(), "reference.parts", single ? single->text() : "");
    }
    if (!parts->is_object()) {
      return make_failure(program, step, FailureClass::expression, "invalid_argument",
                          std::string("reference.parts must be an object, not ") + to_string(parts->kind()));
    }
    reference.parts = std::move(*parts);
  }
  return reference;
}

}  // namespace cairn
