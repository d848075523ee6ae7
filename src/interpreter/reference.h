// Business references: evaluated, and as JSON.
#pragma once

#include "definition/program.h"
#include "expr/expression.h"
#include "instance/failure.h"
#include "instance/snapshot.h"

namespace cairn {

Json to_json(const Reference& reference);
// Forgiving: what is not a reference gives an empty one.
Reference reference_from_json(const Json& value);

// An absent key keeps that of `before`; absent parts become {} (S3). A key that is a number or a
// boolean becomes its text, because references are searched as text.
Result<Reference, Failure> evaluate_reference(const Program& program, const Step* step, const ReferenceTemplate& source,
                                              const Reference& before, expr::Bindings bindings,
                                              const expr::Budget& budget);

}  // namespace cairn
