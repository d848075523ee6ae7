// The names that a compiled expression uses. They are computed from its text on request, so evaluation carries no cost.
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
