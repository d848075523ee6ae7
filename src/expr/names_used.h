// What a compiled expression names: found from its text when somebody asks, so that evaluating
// carries none of it.
#pragma once

#include <string>
#include <vector>

#include "expr/code.h"
#include "expr/expression.h"

namespace cairn::expr {

struct Reading {
  std::vector<std::string> functions;
  std::vector<std::string> secrets;
  std::vector<Reference> references;
};

Reading read_expression(const Code& code);

}  // namespace cairn::expr
