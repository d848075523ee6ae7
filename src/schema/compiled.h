// A schema document as flat tables. Nodes (one per schema) hold a slice of rules (about one per keyword). Rules refer
// to their operands by index.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "schema/decimal.h"
#include "schema/formats.h"
#include "schema/pattern.h"

namespace cairn::schema {

using NodeIndex = std::uint32_t;
using ResourceIndex = std::uint32_t;
constexpr NodeIndex no_node = UINT32_MAX;

// In the order of evaluation: cheap checks first, and the keywords that depend on what others have evaluated last.
enum class Op : std::uint8_t {
  never,          // the schema `false`
  type,           // first: the allowed kinds as bits; count: 1 if whole doubles are integers
  constant,       // first: values; count: cost of a comparison
  one_of_values,  // first: enums; count: cost of a comparison
  minimum,        // first: values; also the three below
  maximum,
  exclusive_minimum,
  exclusive_maximum,
  multiple_of,  // first: values; count: units
  min_length,   // count: the bound; also the next five
  max_length,
  min_items,
  max_items,
  min_properties,
  max_properties,
  required,            // first, count: names
  dependent_required,  // first: names, the trigger; count: how many required names follow it
  pattern,             // first: patterns
  format,              // first: formats
  unique_items,        // the last rule that depends on the value alone
  members,             // first: member_rules
  property_names,      // first: node
  items,               // first: item_rules
  contains,            // first: contains_rules
  reference,           // first: node
  dynamic_reference,   // first: dynamic_references
  all_of,              // first, count: children; also the next two
  any_of,
  one_of,
  negation,                // first: node
  condition,               // first: conditions
  dependent_schema,        // first: node; count: names
  unevaluated_items,       // first: node
  unevaluated_properties,  // first: node
};

constexpr bool looks_at_value_alone(Op op) { return op <= Op::unique_items; }

constexpr std::uint8_t kind_bit(Json::Kind kind) {
  return static_cast<std::uint8_t>(1u << static_cast<unsigned>(kind));
}
constexpr std::uint8_t any_kind = 0x7f;
constexpr std::uint8_t arrays = kind_bit(Json::Kind::array);
constexpr std::uint8_t objects = kind_bit(Json::Kind::object);

struct Rule {
  Op op = Op::never;
  std::uint8_t kinds = any_kind;  // other kinds of data pass without a check
  std::uint32_t first = 0;
  std::uint64_t count = 0;
};

struct Node {
  std::uint32_t first_rule = 0;
  std::uint32_t rule_count = 0;
  ResourceIndex resource = 0;
  bool never = false;
  std::uint8_t tracked_kinds = 0;  // kinds of data for which this node's unevaluated* need the evaluated parts
};

struct EnumValues {
  std::vector<Json> sorted;  // by compare_values
  std::uint32_t as_written;  // values
};

struct MemberRules {
  std::vector<std::pair<Text, NodeIndex>> properties;  // sorted by name
  std::vector<std::pair<std::uint32_t, NodeIndex>> patterns;
  NodeIndex additional = no_node;
};

struct ItemRules {
  std::vector<NodeIndex> prefix;
  NodeIndex rest = no_node;
};

struct ContainsRule {
  NodeIndex node = no_node;
  std::uint64_t min = 1;
  std::uint64_t max = UINT64_MAX;
};

struct Condition {
  NodeIndex test = no_node;
  NodeIndex then = no_node;
  NodeIndex otherwise = no_node;
};

// A $dynamicRef whose first target is a $dynamicAnchor. The outermost resource on the evaluation path that declares the
// same name wins.
struct DynamicReference {
  NodeIndex fallback = no_node;
  std::uint32_t anchors = 0;  // dynamic_anchors
};

// The node of one $dynamicAnchor name in each resource, sorted.
using DynamicAnchors = std::vector<std::pair<ResourceIndex, NodeIndex>>;

struct Compiled {
  Json document;
  NodeIndex root = 0;
  bool has_dynamic_references = false;

  std::vector<Node> nodes;
  std::vector<Rule> rules;
  std::vector<NodeIndex> children;
  std::vector<Text> names;
  std::vector<Json> values;
  std::vector<Decimal> units;
  std::vector<Pattern> patterns;
  std::vector<const Format*> formats;
  std::vector<EnumValues> enums;
  std::vector<MemberRules> member_rules;
  std::vector<ItemRules> item_rules;
  std::vector<ContainsRule> contains_rules;
  std::vector<Condition> conditions;
  std::vector<DynamicReference> dynamic_references;
  std::vector<DynamicAnchors> dynamic_anchors;
};

}  // namespace cairn::schema
