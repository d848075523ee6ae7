// Runs compiled expressions.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "expr/code.h"
#include "expr/expression.h"

namespace cairn::expr {

// What one evaluation has spent so far and what it keeps alive.
struct Context::Session {
  const Code* code = nullptr;
  std::uint64_t steps_left = 0;
  std::uint64_t bytes_left = 0;
  Budget budget;  // as it was at the start, for messages
  bool exhausted = false;
  Value last_error;
  std::vector<std::shared_ptr<const Regex>> regexes;  // of patterns computed during evaluation
};

class Evaluator {
 public:
  Evaluator(const Code& code, Bindings bindings, const Budget& budget);

  Result<Value, Fault> run();

  // The value of a call whose arguments are known at compile time; empty if it fails or is expensive.
  static std::optional<Value> call_early(const Function& function, std::span<Value> args, bool member);

 private:
  Value execute(Value* frame);
  Fault fault_of(const Value& error) const;

  const Code& code_;
  Bindings bindings_;
  Budget budget_;
  Context::Session session_;
  Context context_;
};

}  // namespace cairn::expr
