// Errors of the engine itself, with the place they happened at.
#pragma once

#include <string>

#include "definition/program.h"
#include "expr/expression.h"
#include "instance/failure.h"

namespace cairn {

// file:line:col of the step when known, else its place. Without a step: the file's begin, or nothing.
std::string place_of(const Program& program, const Step* step);
Failure make_failure(const Program& program, const Step* step, FailureClass failure_class, std::string code,
                     std::string message, Json details = {});
// `what` says what was evaluated ("the condition"), `text` is the expression when it is a single one.
Failure expression_failure(const Program& program, const Step* step, const expr::Fault& fault, std::string_view what,
                           std::string_view text);

// class, code, message, details, attempt: what `error` is in expressions.
Json error_in_scope(const Failure& failure);

// Limits that nobody may catch (S23).
bool is_uncatchable(const Failure& failure);

}  // namespace cairn
