// Evaluates expressions with a shared context; used by `cairn eval` and its prompt.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "expr/expression.h"

namespace cairn::cli {

class EvalSession {
 public:
  // The members of the object become names in expressions.
  Result<void> set_context(Json context);
  const Json& context() const { return context_; }

  // Writes the value to `out` or the error to `err`; returns the exit code. With `as_json`, writes one JSON document
  // with value and type, or with the errors, to `out`.
  int evaluate(const std::string& text, bool as_json, std::ostream& out, std::ostream& err) const;

 private:
  Json context_ = Json::object();
  expr::Environment environment_;
};

// A value for display: JSON if possible, otherwise in expression syntax.
std::string shown(const expr::Value& value);

// Prints `1:5: error: message` and the line with a mark under the position.
void print_fault(std::string_view text, const expr::Fault& fault, std::ostream& err);
Json json_of(std::string_view text, const expr::Fault& fault);

}  // namespace cairn::cli
