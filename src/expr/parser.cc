#include "expr/parser.h"

#include "base/utf8.h"

namespace cairn::expr {

struct Parser::Nesting {
  explicit Nesting(Parser& parser) : parser_(parser) { ++parser_.nesting_; }
  ~Nesting() { --parser_.nesting_; }
  bool too_deep() const { return parser_.nesting_ > nesting_max; }
  Parser& parser_;
};

namespace {

struct BinaryOperator {
  int level;  // higher binds tighter
  NodeKind kind;
  Operator op;
};

constexpr int level_or = 1;
constexpr int level_and = 2;
constexpr int level_relation = 3;
constexpr int level_sum = 4;
constexpr int level_product = 5;

std::optional<BinaryOperator> binary_operator(const Token& token) {
  using enum NodeKind;
  if (token.kind == TokenKind::keyword_in) return BinaryOperator{level_relation, membership, Operator::equal};
  if (token.kind != TokenKind::punctuation) return std::nullopt;
  const std::string_view text = token.text;
  if (text.size() == 2) {
    if (text == "||") return BinaryOperator{level_or, any_of, Operator::equal};
    if (text == "&&") return BinaryOperator{level_and, all_of, Operator::equal};
    if (text == "==") return BinaryOperator{level_relation, comparison, Operator::equal};
    if (text == "!=") return BinaryOperator{level_relation, comparison, Operator::unequal};
    if (text == "<=") return BinaryOperator{level_relation, comparison, Operator::less_equal};
    if (text == ">=") return BinaryOperator{level_relation, comparison, Operator::greater_equal};
    return std::nullopt;
  }
  switch (text[0]) {
    case '<': return BinaryOperator{level_relation, comparison, Operator::less};
    case '>': return BinaryOperator{level_relation, comparison, Operator::greater};
    case '+': return BinaryOperator{level_sum, arithmetic, Operator::add};
    case '-': return BinaryOperator{level_sum, arithmetic, Operator::subtract};
    case '*': return BinaryOperator{level_product, arithmetic, Operator::multiply};
    case '/': return BinaryOperator{level_product, arithmetic, Operator::divide};
    case '%': return BinaryOperator{level_product, arithmetic, Operator::modulo};
    default: return std::nullopt;
  }
}

}  // namespace

Result<Tree, Fault> parse(std::string_view text, bool block_macros) {
  if (text.size() > text_bytes_max) {
    return Fault{"limit",
                 "the expression has " + std::to_string(text.size()) + " bytes, more than the limit of " +
                     std::to_string(text_bytes_max),
                 0, text.size()};
  }
  if (const std::size_t bad = find_invalid_utf8(text); bad != std::string_view::npos) {
    return Fault{"syntax", "the expression is not valid UTF-8", bad, 1};
  }
  return Parser(text, block_macros).run();
}

Result<Tree, Fault> Parser::run() {
  const std::size_t guess = text_.size() / 4 + 4;
  tree_.nodes.reserve(guess);
  tree_.edges.reserve(guess);
  advance();
  if (!fault_ && token_.kind == TokenKind::end) return Fault{"syntax", "the expression is empty", 0, 0};
  tree_.root = expression();
  if (!fault_ && token_.kind != TokenKind::end) {
    if (token_.is(")") || token_.is("]") || token_.is("}")) {
      fail_here(quote(token_.text) + " closes nothing that is open here");
    } else {
      fail_here("expected an operator or the end, found " + quote(token_.text));
    }
  }
  if (fault_) return std::move(*fault_);
  return std::move(tree_);
}

void Parser::advance() {
  last_end_ = token_.offset + token_.length;
  token_ = lexer_.next();
  if (token_.kind == TokenKind::invalid) fail("syntax", token_.message, token_.offset, token_.length);
}

NodeId Parser::fail(std::string code, std::string message, std::uint32_t offset, std::uint32_t length) {
  if (!fault_) fault_ = Fault{std::move(code), std::move(message), offset, length};
  return no_node;
}

NodeId Parser::fail_here(std::string message) {
  // Words of other languages where an operator is expected.
  if (token_.kind == TokenKind::name && last_end_ > 0) {
    std::string_view before = text_.substr(0, last_end_);
    before.remove_prefix(before.find_last_of(" \t\n(,?:&|!") + 1);  // the last word
    if (token_.text == "and" || token_.text == "AND") {
      message = quote(token_.text) + " is not an operator; write `&&`";
    } else if (token_.text == "or" || token_.text == "OR") {
      message = quote(token_.text) + " is not an operator; write `||`";
    } else if (before == "not" || before == "NOT") {
      message = quote(before) + " is not an operator; write `!`";
    }
  }
  return fail("syntax", std::move(message), token_.offset, token_.length);
}

bool Parser::expect(std::string_view punctuation, const char* message) {
  if (fault_) return false;
  if (!token_.is(punctuation)) {
    fail_here(token_.kind == TokenKind::end ? std::string(message) + ", found the end"
                                            : std::string(message) + ", found " + quote(token_.text));
    return false;
  }
  advance();
  return !fault_;
}

Node Parser::spanning(NodeKind kind, std::uint32_t begin) const {
  Node node;
  node.kind = kind;
  node.offset = begin;
  node.length = last_end_ > begin ? last_end_ - begin : 0;
  return node;
}

NodeId Parser::add(Node node, std::span<const NodeId> children) {
  if (fault_) return no_node;
  node.first = static_cast<std::uint32_t>(tree_.edges.size());
  node.count = static_cast<std::uint32_t>(children.size());
  int depth = 0;
  for (const NodeId child : children) {
    depth = std::max<int>(depth, tree_.nodes[child].depth);
    tree_.edges.push_back(child);
  }
  node.depth = static_cast<std::uint16_t>(depth + 1);
  if (depth + 1 > depth_max) {
    return fail("limit", "the expression is nested deeper than " + std::to_string(depth_max) + " levels", node.offset,
                node.length);
  }
  if (tree_.nodes.size() >= nodes_max) {
    return fail("limit", "the expression has more than " + std::to_string(nodes_max) + " parts", node.offset,
                node.length);
  }
  tree_.nodes.push_back(node);
  return static_cast<NodeId>(tree_.nodes.size() - 1);
}

NodeId Parser::add_constant(Value value, const Token& token) {
  Node node;
  node.kind = NodeKind::literal;
  node.offset = token.offset;
  node.length = token.length;
  node.constant = static_cast<std::uint32_t>(tree_.constants.size());
  tree_.constants.push_back(std::move(value));
  return add(node, {});
}

NodeId Parser::expression() {
  const Nesting nesting(*this);
  if (nesting.too_deep()) {
    return fail("limit", "brackets and operators are nested deeper than " + std::to_string(nesting_max) + " levels",
                token_.offset, token_.length);
  }
  const std::uint32_t begin = token_.offset;
  const NodeId condition = binary(level_or);
  if (fault_ || !token_.is("?")) return condition;
  advance();
  const NodeId yes = binary(level_or);
  if (!expect(":", "expected `:` of the `? :`")) return no_node;
  const NodeId no = expression();
  if (fault_) return no_node;
  const NodeId children[] = {condition, yes, no};
  return add(spanning(NodeKind::conditional, begin), children);
}

NodeId Parser::binary(int level) {
  const std::uint32_t begin = token_.offset;
  NodeId left = unary();
  while (!fault_) {
    const auto found = binary_operator(token_);
    if (!found || found->level < level) return left;
    advance();
    if (found->kind == NodeKind::all_of || found->kind == NodeKind::any_of) {
      // The whole chain becomes one node, so that long conditions do not make the tree deep.
      std::vector<NodeId> parts = {left, binary(found->level + 1)};
      while (!fault_) {
        const auto again = binary_operator(token_);
        if (!again || again->kind != found->kind) break;
        advance();
        parts.push_back(binary(found->level + 1));
      }
      if (fault_) return no_node;
      left = add(spanning(found->kind, begin), parts);
      continue;
    }
    const NodeId right = binary(found->level + 1);
    if (fault_) return no_node;
    Node node = spanning(found->kind, begin);
    node.op = found->op;
    const NodeId children[] = {left, right};
    left = add(node, children);
  }
  return no_node;
}

NodeId Parser::unary() {
  if (fault_) return no_node;
  if (!token_.is("!") && !token_.is("-")) return member();
  const Nesting nesting(*this);
  if (nesting.too_deep()) {
    return fail("limit", "operators are nested deeper than " + std::to_string(nesting_max) + " levels", token_.offset,
                token_.length);
  }
  const std::uint32_t begin = token_.offset;
  const bool negative = token_.is("-");
  advance();
  if (fault_) return no_node;
  if (negative && (token_.kind == TokenKind::whole || token_.kind == TokenKind::number)) {
    return member_after(numeric_literal(true, begin), begin);
  }
  const NodeId operand = unary();
  if (fault_) return no_node;
  const NodeId children[] = {operand};
  return add(spanning(negative ? NodeKind::negate : NodeKind::logical_not, begin), children);
}

NodeId Parser::member() {
  const std::uint32_t begin = token_.offset;
  return member_after(primary(), begin);
}

NodeId Parser::member_after(NodeId operand, std::uint32_t begin) {
  while (!fault_) {
    if (token_.is(".")) {
      advance();
      bool optional = false;
      if (!fault_ && token_.is("?")) {
        optional = true;
        advance();
      }
      if (fault_) return no_node;
      const Token name = token_;
      if (name.kind != TokenKind::name && name.kind != TokenKind::quoted_name) {
        return fail_here("expected a name after the dot");
      }
      advance();
      if (fault_) return no_node;
      if (token_.is("(") && !optional && name.kind == TokenKind::name) {
        operand = call(operand, name, begin);
        continue;
      }
      Node node = spanning(NodeKind::select, begin);
      node.text = name.text;
      node.optional = optional;
      node.quoted = name.kind == TokenKind::quoted_name;
      const NodeId children[] = {operand};
      operand = add(node, children);
    } else if (token_.is("[")) {
      advance();
      bool optional = false;
      if (!fault_ && token_.is("?")) {
        optional = true;
        advance();
      }
      const NodeId index = expression();
      if (!expect("]", "expected `]`")) return no_node;
      Node node = spanning(NodeKind::index, begin);
      node.optional = optional;
      const NodeId children[] = {operand, index};
      operand = add(node, children);
    } else if (token_.is("{")) {
      return fail_here("messages with fields do not exist here; a map is written {\"name\": value}");
    } else {
      return operand;
    }
  }
  return no_node;
}

NodeId Parser::primary() {
  if (fault_) return no_node;
  const std::uint32_t begin = token_.offset;
  bool absolute = false;
  if (token_.is(".")) {
    absolute = true;
    advance();
    if (fault_) return no_node;
    if (token_.kind != TokenKind::name) return fail_here("expected a name after the dot");
  }
  if (token_.kind == TokenKind::name) {
    const Token name = token_;
    if (is_reserved(name.text)) return fail_here(quote(name.text) + " is a reserved word");
    advance();
    if (fault_) return no_node;
    if (token_.is("(")) return call(no_node, name, begin);
    Node node = spanning(NodeKind::name, begin);
    node.text = name.text;
    node.absolute = absolute;
    return add(node, {});
  }
  if (token_.is("(")) {
    advance();
    const NodeId inside = expression();
    if (!expect(")", "expected `)`")) return no_node;
    return inside;
  }
  if (token_.is("[")) return list_literal();
  if (token_.is("{")) return map_literal();
  return literal();
}

NodeId Parser::call(NodeId target, const Token& name, std::uint32_t begin) {
  std::vector<NodeId> args;
  const bool has_target = target != no_node;
  if (has_target) args.push_back(target);
  if (!arguments(args)) return no_node;
  Node node = spanning(NodeKind::call, begin);
  node.text = name.text;
  node.member = has_target;
  node.absolute = !has_target && text_[begin] == '.';
  bool handled = false;
  const NodeId expanded = macro(node, args, handled);
  if (handled || fault_) return expanded;
  return add(node, args);
}

bool Parser::arguments(std::vector<NodeId>& into) {
  advance();
  if (fault_) return false;
  if (token_.is(")")) {
    advance();
    return !fault_;
  }
  for (;;) {
    into.push_back(expression());
    if (fault_) return false;
    if (!token_.is(",")) break;
    advance();
    if (fault_) return false;
  }
  return expect(")", "expected `,` or `)` in the call");
}

NodeId Parser::list_literal() {
  const std::uint32_t begin = token_.offset;
  std::vector<NodeId> items;
  std::vector<bool> optional;
  bool any_optional = false;
  advance();
  while (!fault_ && !token_.is("]")) {
    const bool marked = token_.is("?");
    if (marked) advance();
    optional.push_back(marked);
    any_optional = any_optional || marked;
    items.push_back(expression());
    if (fault_ || !token_.is(",")) break;
    advance();
  }
  if (!expect("]", "expected `,` or `]` in the list")) return no_node;
  const NodeId id = add(spanning(NodeKind::list, begin), items);
  if (any_optional && id != no_node) {
    tree_.optional_items.resize(tree_.edges.size());
    for (std::size_t i = 0; i < optional.size(); ++i) tree_.optional_items[tree_.nodes[id].first + i] = optional[i];
    tree_.nodes[id].optional = true;
  }
  return id;
}

NodeId Parser::map_literal() {
  const std::uint32_t begin = token_.offset;
  std::vector<NodeId> items;
  std::vector<bool> optional;
  bool any_optional = false;
  advance();
  while (!fault_ && !token_.is("}")) {
    const bool marked = token_.is("?");
    if (marked) advance();
    optional.push_back(marked);
    optional.push_back(marked);
    any_optional = any_optional || marked;
    items.push_back(expression());
    if (!expect(":", "expected `:` after the key")) return no_node;
    items.push_back(expression());
    if (fault_ || !token_.is(",")) break;
    advance();
  }
  if (!expect("}", "expected `,` or `}` in the map")) return no_node;
  const NodeId id = add(spanning(NodeKind::map, begin), items);
  if (any_optional && id != no_node) {
    tree_.optional_items.resize(tree_.edges.size());
    for (std::size_t i = 0; i < optional.size(); ++i) tree_.optional_items[tree_.nodes[id].first + i] = optional[i];
    tree_.nodes[id].optional = true;
  }
  return id;
}

NodeId Parser::numeric_literal(bool negative, std::uint32_t begin) {
  Token token = token_;
  advance();
  if (fault_) return no_node;
  const std::string_view digits = token.text;
  token.length = token.offset + token.length - begin;
  token.offset = begin;
  if (token.kind == TokenKind::whole) {
    auto value = decode_integer(digits, negative);
    if (!value) return fail("syntax", value.error().message, token.offset, token.length);
    return add_constant(Value::integer(*value), token);
  }
  auto value = decode_number(digits);
  if (!value) return fail("syntax", value.error().message, token.offset, token.length);
  return add_constant(Value::number(negative ? -*value : *value), token);
}

NodeId Parser::literal() {
  const Token token = token_;
  switch (token.kind) {
    case TokenKind::keyword_true:
    case TokenKind::keyword_false:
      advance();
      return add_constant(Value::boolean(token.kind == TokenKind::keyword_true), token);
    case TokenKind::keyword_null: advance(); return add_constant(Value(), token);
    case TokenKind::whole:
    case TokenKind::number: return numeric_literal(false, token.offset);
    case TokenKind::unsigned_whole: {
      advance();
      auto value = decode_unsigned(token.text);
      if (!value) return fail("syntax", value.error().message, token.offset, token.length);
      return add_constant(Value::unsigned_integer(*value), token);
    }
    case TokenKind::string:
    case TokenKind::bytes: {
      advance();
      const bool bytes = token.kind == TokenKind::bytes;
      auto value = decode_quoted(token.text, bytes);
      if (!value) {
        const auto offset = static_cast<std::uint32_t>(value.error().offset);
        return fail("syntax", value.error().message, token.offset + offset, 2);
      }
      return add_constant(bytes ? Value::bytes(*value) : Value::text(*value), token);
    }
    case TokenKind::end: return fail_here("expected a value, found the end");
    case TokenKind::quoted_name: return fail_here("back quotes are for names after a dot");
    case TokenKind::keyword_in:
    case TokenKind::name:
    case TokenKind::punctuation:
    case TokenKind::invalid: break;
  }
  return fail_here("expected a value, found " + quote(token.text));
}

}  // namespace cairn::expr
