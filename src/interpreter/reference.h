// Business references: their evaluation and their JSON form.
#pragma once

#include "definition/program.h"
#include "expr/expression.h"
#include "instance/failure.h"
#include "instance/snapshot.h"

namespace cairn {

Json to_json(const Reference& reference);
// Never fails: a value that is not a reference gives an empty one.
Reference reference_from_json(const Json& value);

// A missing key keeps the key of `before`; missing parts become {} (rule S3). A number or boolean key becomes its text,
// because references are searched as text.
Result<Reference, Failure> evaluate_reference(const Program& program, const Step* step, const ReferenceTemplate& source,
                                              const Reference& before, expr::Bindings bindings,
                                              const expr::Budget& budget);

}  // namespace cairn
