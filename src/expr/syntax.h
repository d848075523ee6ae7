// The tree of an expression: nodes in one array, children by index, names as views of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/value.h"

namespace cairn::expr {

inline constexpr std::size_t text_bytes_max = 64u << 10;
inline constexpr std::size_t nodes_max = 20'000;
inline constexpr int nesting_max = 200;  // brackets, calls and operators inside each other
inline constexpr int depth_max = 500;    // of the tree; long chains of one operator count here too

using NodeId = std::uint32_t;
inline constexpr NodeId no_node = 0xFFFFFFFF;

enum class NodeKind : std::uint8_t {
  literal,  // constant
  name,     // text; `absolute` when written with a leading dot
  select,   // child 0 . text; `optional` for .?, `test` inside has()
  index,    // child 0 [ child 1 ]; `optional` for [?
  call,     // text ( children ); with `member` child 0 is the receiver
  list,     // children; bits in `optional_items`
  map,      // children: key, value, key, value ...
  negate,
  logical_not,
  arithmetic,    // op, two children
  comparison,    // op, two children
  membership,    // child 0 in child 1
  all_of,        // &&: two children or more
  any_of,        // ||
  conditional,   // three children
  loop,          // a comprehension, see LoopKind
  bind,          // text = child 0 in child 1
  optional_map,  // child 0 . optMap(text, child 1); `flat` for optFlatMap
  keyed,         // a keyed function: child 0 is the list, child 1 the loop that gives the keys
  block,         // cel.block: children in order, the last one is the result
  failed,        // a fault was reported here
};

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  modulo,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal
};

enum class LoopKind : std::uint8_t {
  all,
  exists,
  exists_one,
  map,
  filter,
  transform_list,
  transform_map,
  transform_entries
};

struct Node {
  NodeKind kind = NodeKind::failed;
  Operator op = Operator::add;
  LoopKind loop = LoopKind::all;
  bool optional = false;
  bool test = false;
  bool member = false;
  bool absolute = false;
  bool flat = false;
  bool quoted = false;  // a literal of text that stands in quotes, a field in back quotes
  std::uint16_t depth = 1;
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t first = 0;  // children in Tree::edges
  std::uint32_t count = 0;
  std::uint32_t constant = 0;  // in Tree::constants
  std::string_view text;
  std::string_view second;  // the second variable of a loop
  std::string_view key;     // of keyed: the variable is `text`, the function `key`
};

struct Tree {
  std::vector<Node> nodes;
  std::vector<NodeId> edges;
  std::vector<Value> constants;
  std::vector<std::unique_ptr<const std::string>> names;  // made up by macros; views of them stay good
  std::vector<bool> optional_items;                       // by edge: an item or entry written with ?
  NodeId root = no_node;

  const Node& at(NodeId id) const { return nodes[id]; }
  NodeId child(const Node& node, std::uint32_t index) const { return edges[node.first + index]; }
  const Node& child_at(const Node& node, std::uint32_t index) const { return nodes[child(node, index)]; }
  std::span<const NodeId> children(const Node& node) const { return {edges.data() + node.first, node.count}; }
  bool optional_item(const Node& node, std::uint32_t index) const {
    return node.first + index < optional_items.size() && optional_items[node.first + index];
  }
};

// A piece of an expression as messages show it.
inline std::string quote(std::string_view text) { return "`" + std::string(text) + "`"; }

}  // namespace cairn::expr
