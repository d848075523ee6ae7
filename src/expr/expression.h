// src/expr implements the expression language of definitions: CEL over JSON values (docs/expressions.md). It uses
// src/base, src/time and RE2, and it knows nothing of workflows. An expression is compiled once against the names in
// scope and evaluated as often as needed. Evaluation is deterministic and has a budget; it has no I/O, no clock and no
// randomness. An Expression is immutable and safe from several threads. Read `compile` and Expression::evaluate in this
// file first, then parser.h, checker.h, compiler.h and evaluator.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/time.h"
#include "expr/type.h"
#include "expr/value.h"

namespace cairn::expr {

// The version of the language, which the canonical form of a definition contains.
inline constexpr int language_version = 1;

// A fault in the text of an expression or in its evaluation, and where.
struct Fault {
  // Published codes (rule S19): syntax, unknown_name, unknown_function, no_such_overload,
  // no_such_key, divide_by_zero, overflow, index_out_of_range, not_boolean, cost_exceeded,
  // not_json (a value that JSON cannot hold), invalid_argument, limit (of length, nodes or depth).
  std::string code;
  std::string message;     // plain words: what was expected, what was found, similar names
  std::size_t offset = 0;  // bytes from the start of the expression's text
  std::size_t length = 0;  // of the sub-expression
};

// The variables that an expression may name, in slot order. `Bindings` passes values in the same order.
struct Variable {
  std::string name;
  Type type = Type::dyn();
  // Not empty: the slot exists but the name may not be used here. The text tells where it may be used ("only in
  // `on_complete` and `require`"). Using it is an `unknown_name` fault.
  std::string unavailable = {};
};
struct Environment {
  std::vector<Variable> variables;
  bool allow_secret = false;  // secret("name") is allowed
};

// A path that an expression reads from a variable: `config.scoring_url` is {"config", {"scoring_url"}}. The path ends
// at the first part that is not a literal name. Used for `requires` and for warnings.
struct Reference {
  std::string variable;
  std::vector<std::string> path;
  std::size_t offset = 0;
  bool optional = false;  // read with has() or .?, so it may be missing
  auto operator<=>(const Reference&) const = default;
};

struct Budget {
  std::uint64_t steps_max = 1'000'000;
  std::uint64_t bytes_max = 16u << 20;
};

// Values by slot, borrowed for the call. Slots of variables that the expression does not name may hold any value.
using Bindings = std::span<const Value>;

class Expression {
 public:
  Expression() = default;  // empty; only compiled ones can be evaluated

  const std::string& text() const;
  Type type() const;                           // as deduced; dyn if only the data can tell
  std::vector<std::string> functions() const;  // names it calls, sorted, without operators
  std::vector<Reference> references() const;   // sorted
  std::vector<std::string> secrets() const;    // names given to secret(), sorted
  std::optional<Json> constant() const;        // its value if it reads no variable, for warnings
  explicit operator bool() const { return code_ != nullptr; }

  // The result as a value of the language.
  Result<Value, Fault> evaluate(Bindings bindings, const Budget& budget = {}) const;
  // The result as JSON (rule V4).
  Result<Json, Fault> evaluate_json(Bindings bindings, const Budget& budget = {}) const;
  // The result of a condition: true or false; anything else is `not_boolean`.
  Result<bool, Fault> evaluate_condition(Bindings bindings, const Budget& budget = {}) const;

 private:
  friend class Compiler;
  std::shared_ptr<const struct Code> code_;  // shared by the copies of one expression
};

// Parses, checks and compiles. On failure it answers all faults found, at least one.
Result<Expression, std::vector<Fault>> compile(std::string_view text, const Environment& environment);

// Conversion to and from JSON (rule V4).
Result<Json, Fault> to_json(const Value& value);
Value from_json(const Json& value);

// The existing functions with signature, description and example (`cairn eval --functions`).
struct FunctionEntry {
  std::string name;
  std::string library;      // standard, strings, math, lists, sets, encoders, optionals, regex, decimal, dates, ...
  std::string signature;    // string.replace(string, string) -> string
  std::string description;  // one sentence
  std::string example;      // an expression
  std::string example_result;
};
const std::vector<FunctionEntry>& function_catalogue();

}  // namespace cairn::expr
