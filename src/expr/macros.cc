#include <array>

#include "expr/function.h"
#include "expr/parser.h"

namespace cairn::expr {

namespace {

struct LoopMacro {
  std::string_view name;
  std::size_t arguments;  // without the receiver
  std::size_t variables;
  LoopKind kind;
};

constexpr std::array<LoopMacro, 17> loop_macros = {{
    {"all", 2, 1, LoopKind::all},
    {"exists", 2, 1, LoopKind::exists},
    {"exists_one", 2, 1, LoopKind::exists_one},
    {"existsOne", 2, 1, LoopKind::exists_one},
    {"map", 2, 1, LoopKind::map},
    {"map", 3, 1, LoopKind::map},
    {"filter", 2, 1, LoopKind::filter},
    {"all", 3, 2, LoopKind::all},
    {"exists", 3, 2, LoopKind::exists},
    {"exists_one", 3, 2, LoopKind::exists_one},
    {"existsOne", 3, 2, LoopKind::exists_one},
    {"transformList", 3, 2, LoopKind::transform_list},
    {"transformList", 4, 2, LoopKind::transform_list},
    {"transformMap", 3, 2, LoopKind::transform_map},
    {"transformMap", 4, 2, LoopKind::transform_map},
    {"transformMapEntry", 3, 2, LoopKind::transform_entries},
    {"transformMapEntry", 4, 2, LoopKind::transform_entries},
}};

}  // namespace

NodeId Parser::macro(const Node& call, std::span<const NodeId> args, bool& handled) {
  if (call.member) return receiver_macro(call, args, handled);
  if (call.text == "has" && args.size() == 1) {
    handled = true;
    Node& tested = tree_.nodes[args[0]];
    if (tested.kind != NodeKind::select || tested.optional) {
      return fail("syntax", "has() asks for a member: has(a.b)", call.offset, call.length);
    }
    tested.test = true;
    tested.offset = call.offset;
    tested.length = call.length;
    return args[0];
  }
  return no_node;
}

NodeId Parser::receiver_macro(const Node& call, std::span<const NodeId> args, bool& handled) {
  const Node& receiver = tree_.nodes[args[0]];
  if (receiver.kind == NodeKind::name && receiver.text == "cel") return cel_macro(call, args, handled);
  const std::size_t given = args.size() - 1;
  for (const LoopMacro& macro : loop_macros) {
    if (macro.name != call.text || macro.arguments != given) continue;
    handled = true;
    return loop(call, macro.kind, args, macro.variables);
  }
  if ((call.text == "optMap" || call.text == "optFlatMap") && given == 2) {
    handled = true;
    if (!is_variable(args[1], call.text)) return no_node;
    Node node = call;
    node.kind = NodeKind::optional_map;
    node.flat = call.text == "optFlatMap";
    node.text = tree_.nodes[args[1]].text;
    const NodeId children[] = {args[0], args[2]};
    return add(node, children);
  }
  if (given != 2) return no_node;
  const Function* function = find_function(call.text);
  if (!function || !function->keyed()) return no_node;
  handled = true;
  if (!is_variable(args[1], call.text)) return no_node;
  // The receiver is the first child and also the range of the loop. It is evaluated once.
  Node keys = call;
  keys.kind = NodeKind::loop;
  keys.loop = LoopKind::map;
  keys.text = tree_.nodes[args[1]].text;
  Node range = call;
  range.kind = NodeKind::name;
  range.text = made_up("@keyed");
  const NodeId range_id = add(range, {});
  if (range_id == no_node) return no_node;
  const NodeId loop_children[] = {range_id, args[2]};
  const NodeId loop_id = add(keys, loop_children);
  if (loop_id == no_node) return no_node;
  Node node = call;
  node.kind = NodeKind::keyed;
  const NodeId children[] = {args[0], loop_id};
  return add(node, children);
}

NodeId Parser::cel_macro(const Node& call, std::span<const NodeId> args, bool& handled) {
  const std::size_t given = args.size() - 1;
  if (call.text == "bind" && given == 3) {
    handled = true;
    if (!is_variable(args[1], "cel.bind")) return no_node;
    Node node = call;
    node.kind = NodeKind::bind;
    node.text = tree_.nodes[args[1]].text;
    const NodeId children[] = {args[2], args[3]};
    return add(node, children);
  }
  if (!block_macros_) return no_node;
  const auto number = [&](NodeId id) -> std::string {
    const Node& node = tree_.nodes[id];
    if (node.kind != NodeKind::literal || !tree_.constants[node.constant].is(Value::Kind::integer)) return "?";
    return std::to_string(tree_.constants[node.constant].as_integer());
  };
  if (call.text == "block" && given == 2 && tree_.nodes[args[1]].kind == NodeKind::list) {
    handled = true;
    Node node = call;
    node.kind = NodeKind::block;
    const Node& list = tree_.nodes[args[1]];
    std::vector<NodeId> children(tree_.children(list).begin(), tree_.children(list).end());
    children.push_back(args[2]);
    return add(node, children);
  }
  std::string name;
  if (call.text == "index" && given == 1) name = "@index" + number(args[1]);
  if (call.text == "iterVar" && given == 2) name = "@it:" + number(args[1]) + ":" + number(args[2]);
  if (call.text == "accuVar" && given == 2) name = "@ac:" + number(args[1]) + ":" + number(args[2]);
  if (name.empty()) return no_node;
  handled = true;
  Node node = call;
  node.kind = NodeKind::name;
  node.text = made_up(std::move(name));
  return add(node, {});
}

NodeId Parser::loop(const Node& call, LoopKind kind, std::span<const NodeId> args, std::size_t variables) {
  for (std::size_t i = 1; i <= variables; ++i) {
    if (!is_variable(args[i], call.text)) return no_node;
  }
  Node node = call;
  node.kind = NodeKind::loop;
  node.loop = kind;
  node.text = tree_.nodes[args[1]].text;
  if (variables == 2) {
    node.second = tree_.nodes[args[2]].text;
    if (node.second == node.text) {
      return fail("syntax", "the two variables of " + std::string(call.text) + " need different names",
                  tree_.nodes[args[2]].offset, tree_.nodes[args[2]].length);
    }
  }
  // The range, the computed expression and, if there is one, the filter.
  NodeId children[3] = {args[0], args.back(), no_node};
  std::size_t count = 2;
  if (args.size() == variables + 3) children[count++] = args[variables + 1];
  return add(node, {children, count});
}

bool Parser::is_variable(NodeId id, std::string_view macro) {
  const Node& node = tree_.nodes[id];
  if (node.kind == NodeKind::name && !node.absolute) return true;
  fail("syntax", "the variable of " + std::string(macro) + " must be a plain name", node.offset, node.length);
  return false;
}

std::string_view Parser::made_up(std::string name) {
  tree_.names.push_back(std::make_unique<const std::string>(std::move(name)));
  return *tree_.names.back();
}

}  // namespace cairn::expr
