// One expression after another with the same context: what `cairn eval` and its prompt share.
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
  // Members of the object become the names of expressions.
  Result<void> set_context(Json context);
  const Json& context() const { return context_; }

  // Writes the value to `out` or the fault to `err`; the exit code. `as_json`: one JSON document
  // with value and type, or with the faults, on `out`.
  int evaluate(const std::string& text, bool as_json, std::ostream& out, std::ostream& err) const;

 private:
  Json context_ = Json::object();
  expr::Environment environment_;
};

// A value for people: JSON where it is one, else as an expression would write it.
std::string shown(const expr::Value& value);

// `1:5: error: message` and the line with a mark under the place.
void print_fault(std::string_view text, const expr::Fault& fault, std::ostream& err);
Json json_of(std::string_view text, const expr::Fault& fault);

}  // namespace cairn::cli
