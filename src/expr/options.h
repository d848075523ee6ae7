// Ways to compile that only conformance vectors need.
#pragma once

#include "expr/expression.h"
#include "expr/function.h"

namespace cairn::expr {

struct Options {
  std::string container;            // names are looked up in it first
  bool check = true;                // false: names and functions that do not exist fail when evaluated
  bool block_macros = false;        // cel.block and what belongs to it
  std::vector<Function> functions;  // declared, without implementation
};

Result<Expression, std::vector<Fault>> compile(std::string_view text, const Environment& environment,
                                               const Options& options);

}  // namespace cairn::expr
