// Errors of the engine itself, with the place where they happened.
#pragma once

#include <string>

#include "definition/program.h"
#include "expr/expression.h"
#include "instance/failure.h"

namespace cairn {

// file:line:col of the step if known, otherwise its place. Without a step: the start of the file, or empty.
std::string place_of(const Program& program, const Step* step);
Failure make_failure(const Program& program, const Step* step, FailureClass failure_class, std::string code,
                     std::string message, Json details = {});
// `what` names the evaluated part ("the condition"); `text` is the expression if there is a single one.
Failure expression_failure(const Program& program, const Step* step, const expr::Fault& fault, std::string_view what,
                           std::string_view text);

// What `error` is in expressions: class, code, message, details, attempt.
Json error_in_scope(const Failure& failure);

// Whether the error is a limit that no `catch` may handle (rule S23).
bool is_uncatchable(const Failure& failure);

}  // namespace cairn
