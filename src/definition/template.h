// Compiled values of a definition: JSON with expressions at any depth.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "expr/expression.h"

namespace cairn {

class Template {
 public:
  using List = std::vector<Template>;
  using Object = std::vector<std::pair<std::string, Template>>;

  Template() = default;  // the literal null
  static Template literal(Json value);
  static Template expression(expr::Expression value);
  static Template list(List items);        // becomes a literal if all items are literals
  static Template object(Object members);  // likewise

  // The value if it contains no expression, otherwise nullptr.
  const Json* constant() const;
  // The expression if the template is a single one, otherwise nullptr.
  const expr::Expression* single() const;
  // The members of an object with expressions, otherwise nullptr.
  const Object* members() const;
  Result<Json, expr::Fault> evaluate(expr::Bindings bindings, const expr::Budget& budget = {}) const;
  // For the request of a transport: the result of each expression is sealed (expr/secret_mark.h).
  Result<Json, expr::Fault> evaluate_sealed(expr::Bindings bindings, const expr::Budget& budget = {}) const;

 private:
  Result<Json, expr::Fault> evaluate(expr::Bindings bindings, const expr::Budget& budget, bool sealed) const;
  // Shared, because templates are immutable and copied with the parts of the program.
  std::variant<Json, expr::Expression, std::shared_ptr<const List>, std::shared_ptr<const Object>> held_;
};

// A duration: a literal, or an expression that gives a duration or its text. A negative result counts as zero.
struct DurationTemplate {
  std::optional<Duration> literal;
  expr::Expression expression;
  Result<Duration, expr::Fault> evaluate(expr::Bindings bindings, const expr::Budget& budget = {}) const;
};

// An instant: RFC 3339 text, or an expression that gives a timestamp or such text.
struct TimeTemplate {
  std::optional<Timestamp> literal;
  expr::Expression expression;
  Result<Timestamp, expr::Fault> evaluate(expr::Bindings bindings, const expr::Budget& budget = {}) const;
};

}  // namespace cairn
