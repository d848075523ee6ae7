// Parses text to a tree. It expands macros, so the tree has loops instead of calls of `all`.
#pragma once

#include <string_view>

#include "base/result.h"
#include "expr/expression.h"
#include "expr/lexer.h"
#include "expr/literal.h"
#include "expr/syntax.h"

namespace cairn::expr {

// Views in the tree point into `text`. `block_macros` enables cel.block, cel.index and cel.iterVar, which only
// conformance tests use.
Result<Tree, Fault> parse(std::string_view text, bool block_macros = false);

class Parser {
 public:
  Parser(std::string_view text, bool block_macros) : text_(text), lexer_(text), block_macros_(block_macros) {}
  Result<Tree, Fault> run();

 private:
  using Parsed = NodeId;  // no_node after a fault
  struct Nesting;

  Parsed expression();
  Parsed binary(int level);
  Parsed unary();
  Parsed member();
  Parsed member_after(Parsed operand, std::uint32_t begin);
  Parsed primary();
  Parsed list_literal();
  Parsed map_literal();
  Parsed literal();
  Parsed numeric_literal(bool negative, std::uint32_t begin);
  Parsed call(Parsed target, const Token& name, std::uint32_t begin);
  bool arguments(std::vector<NodeId>& into);

  // Expands macros (macros.cc). no_node without a fault: not a macro.
  Parsed macro(const Node& call, std::span<const NodeId> args, bool& handled);
  Parsed receiver_macro(const Node& call, std::span<const NodeId> args, bool& handled);
  Parsed cel_macro(const Node& call, std::span<const NodeId> args, bool& handled);
  Parsed loop(const Node& call, LoopKind kind, std::span<const NodeId> args, std::size_t variables);
  bool is_variable(NodeId id, std::string_view macro);
  std::string_view made_up(std::string name);

  NodeId add(Node node, std::span<const NodeId> children);
  NodeId add_constant(Value value, const Token& token);
  Node spanning(NodeKind kind, std::uint32_t begin) const;
  void advance();
  bool expect(std::string_view punctuation, const char* message);
  NodeId fail(std::string code, std::string message, std::uint32_t offset, std::uint32_t length);
  NodeId fail_here(std::string message);
  std::uint32_t end() const { return last_end_; }

  std::string_view text_;
  Lexer lexer_;
  Token token_;
  std::uint32_t last_end_ = 0;
  Tree tree_;
  std::optional<Fault> fault_;
  int nesting_ = 0;
  bool block_macros_;
};

}  // namespace cairn::expr
