#include "expr/expression.h"

#include <algorithm>

#include "expr/code.h"
#include "expr/evaluator.h"
#include "expr/names_used.h"

namespace cairn::expr {

namespace {

// Counts the parts of a value. Values share parts, so a small expression can make a value that is huge when written
// out. False if there are more parts than an evaluation may make.
bool countable(const Value& value, std::uint64_t& left) {
  if (left == 0) return false;
  --left;
  if (value.json()) return true;
  if (value.is(Value::Kind::list)) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!countable(value.item(i), left)) return false;
    }
  } else if (value.is(Value::Kind::map)) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (!countable(value.value(i), left)) return false;
    }
  } else if (value.is(Value::Kind::optional) && value.has_value()) {
    return countable(value.optional_value(), left);
  }
  return true;
}

}  // namespace

const std::string& Expression::text() const {
  static const std::string empty;
  return code_ ? code_->text : empty;
}
Type Expression::type() const { return code_ ? code_->type : Type::dyn(); }

Result<Value, Fault> Expression::evaluate(Bindings bindings, const Budget& budget) const {
  CAIRN_ASSERT(code_ != nullptr);
  auto value = Evaluator(*code_, bindings, budget).run();
  if (!value) return std::move(value).error();
  std::uint64_t left = budget.bytes_max / sizeof(Value);
  if (!countable(*value, left)) {
    return Fault{"cost_exceeded", "the value has more parts than the budget of an evaluation allows", 0,
                 code_->text.size()};
  }
  return value->self_contained();
}

Result<Json, Fault> Expression::evaluate_json(Bindings bindings, const Budget& budget) const {
  CAIRN_ASSERT(code_ != nullptr);
  auto value = Evaluator(*code_, bindings, budget).run();
  if (!value) return std::move(value).error();
  auto json = to_json(*value);
  if (!json) {
    Fault fault = std::move(json).error();
    fault.length = code_->text.size();
    return fault;
  }
  return std::move(*json);
}

Result<bool, Fault> Expression::evaluate_condition(Bindings bindings, const Budget& budget) const {
  CAIRN_ASSERT(code_ != nullptr);
  auto value = Evaluator(*code_, bindings, budget).run();
  if (!value) return std::move(value).error();
  if (!value->is(Value::Kind::boolean)) {
    return Fault{"not_boolean", "a condition must be true or false, found " + std::string(describe(value->kind())), 0,
                 code_->text.size()};
  }
  return value->as_bool();
}

std::optional<Json> Expression::constant() const {
  if (!code_ || code_->reads_variables) return std::nullopt;
  auto value = evaluate_json({});
  if (!value) return std::nullopt;
  return std::move(*value);
}

std::vector<std::string> Expression::functions() const {
  return code_ ? read_expression(*code_).functions : std::vector<std::string>();
}
std::vector<std::string> Expression::secrets() const {
  return code_ ? read_expression(*code_).secrets : std::vector<std::string>();
}
std::vector<Reference> Expression::references() const {
  return code_ ? read_expression(*code_).references : std::vector<Reference>();
}

const std::vector<FunctionEntry>& function_catalogue() {
  static const std::vector<FunctionEntry> entries = [] {
    std::vector<FunctionEntry> list;
    for (const Function& function : all_functions()) {
      for (const Signature& signature : function.signatures) {
        const Overload& overload = *signature.overload;
        list.push_back({signature.name, std::string(signature.library), std::string(overload.signature),
                        std::string(overload.description), std::string(overload.example),
                        std::string(overload.example_result)});
      }
    }
    return list;
  }();
  return entries;
}

}  // namespace cairn::expr
