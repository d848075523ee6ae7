// Compiles the tree and its meanings to flat code.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "expr/checker.h"
#include "expr/code.h"
#include "expr/expression.h"
#include "expr/options.h"
#include "expr/syntax.h"

namespace cairn::expr {

class Compiler {
 public:
  Compiler(std::string_view text, const Environment& environment, const Options& options)
      : text_(text), environment_(environment), options_(options) {}

  Result<Expression, std::vector<Fault>> run();

 private:
  void generate(NodeId id);
  void generate_name(NodeId id, const Node& node);
  void generate_select(NodeId id, const Node& node);
  void generate_call(NodeId id, const Node& node);
  void generate_logic(NodeId id, const Node& node);
  void generate_conditional(NodeId id, const Node& node);
  void generate_loop(NodeId id, const Node& node);
  void generate_items(NodeId id, const Node& node, Op op);
  void prepare_regex(const Node& node, std::span<const NodeId> args, const Function& function);

  // The value of a node that depends on no data.
  std::optional<Value> constant_of(NodeId id);
  std::optional<Value> fold(NodeId id);
  void push_constant(NodeId id, Value value);
  std::uint32_t add_constant(Value value);
  std::uint32_t add_key(std::string_view key);
  std::uint32_t add_function(const Function* function);

  std::uint32_t here() const { return static_cast<std::uint32_t>(code_->instructions.size()); }
  std::uint32_t emit(NodeId id, Instruction instruction, int stack_change);
  void protect(std::uint32_t begin, int stack);

  std::string_view text_;
  const Environment& environment_;
  const Options& options_;
  Tree tree_;
  std::unique_ptr<Checker> checker_;
  const std::vector<Meaning>* meanings_ = nullptr;
  std::shared_ptr<Code> code_;
  std::vector<Fault> faults_;
  std::vector<bool> varies_;  // by node: known to have no constant value
  int stack_ = 0;
};

}  // namespace cairn::expr
