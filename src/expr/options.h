// Compile options that only the conformance tests need.
#pragma once

#include "expr/expression.h"
#include "expr/function.h"

namespace cairn::expr {

struct Options {
  std::string container;            // names are resolved in it first
  bool check = true;                // false: unknown names and functions fail at evaluation
  bool block_macros = false;        // cel.block and its related macros
  std::vector<Function> functions;  // declared, without implementation
};

Result<Expression, std::vector<Fault>> compile(std::string_view text, const Environment& environment,
                                               const Options& options);

}  // namespace cairn::expr
