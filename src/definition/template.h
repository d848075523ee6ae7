// Value positions of a definition: JSON with expressions at any depth, compiled.
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
  static Template list(List items);        // becomes a literal when all items are
  static Template object(Object members);  // likewise

  // The value when it has no expression anywhere, else nullptr.
  const Json* constant() const;
  // The expression when it is nothing else, else nullptr.
  const expr::Expression* single() const;
  Result<Json, expr::Fault> evaluate(expr::Bindings bindings, const expr::Budget& budget = {}) const;
  // For a request that a transport sends: what each expression gave is sealed (expr/secret_mark.h).
  Result<Json, expr::Fault> evaluate_sealed(expr::Bindings bindings, const expr::Budget& budget = {}) const;

 private:
  Result<Json, expr::Fault> evaluate(expr::Bindings bindings, const expr::Budget& budget, bool sealed) const;
  // Shared: templates are immutable and copied with the program's parts.
  std::variant<Json, expr::Expression, std::shared_ptr<const List>, std::shared_ptr<const Object>> held_;
};

// A length of time: written out, or an expression that gives a duration or its text. A negative
// result counts as zero.
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
