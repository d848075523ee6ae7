#include "schema/evaluation.h"

#include <algorithm>

namespace cairn::schema {
namespace {

// Data nests up to 128 levels, and each level may pass through several schemas. A frame takes a few hundred bytes.
constexpr int depth_max = 2'000;
// This is below one second in most cases. Valid data of the maximum size needs a few million steps.
constexpr std::uint64_t steps_max = 20'000'000;
constexpr std::uint64_t words_cost = 100;

}  // namespace

std::string pointer_of(const Path& path) {
  std::vector<const Path*> steps;
  for (const Path* at = &path; at->up; at = at->up) steps.push_back(at);
  std::string out;
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    out += '/';
    out += (*it)->key ? escape_pointer(*(*it)->key) : std::to_string((*it)->index);
  }
  return out;
}

void Report::add(Violation violation) {
  if (full() || std::find(found.begin(), found.end(), violation) != found.end()) return;
  found.push_back(std::move(violation));
}

bool Evaluation::run(const Json& data) {
  const bool fit = fits(compiled_.root, data, Path{}, nullptr);
  return fit && gave_up_.empty();
}

void Evaluation::spend(std::uint64_t steps) {
  steps_ += steps;
  if (steps_ > steps_max) gave_up_ = "the schema needs too many steps for this value";
}

bool Evaluation::fits(NodeIndex index, const Json& data, const Path& path, Seen* seen) {
  const Node& node = compiled_.nodes[index];
  if (node.rule_count == 0) return true;
  spend(node.rule_count);
  if (depth_ >= depth_max) gave_up_ = "the schema nests too deep for this value";
  if (!gave_up_.empty()) return false;
  ++depth_;
  const Scope here{scope_, node.resource};
  if (compiled_.has_dynamic_references) scope_ = &here;
  const bool tracks = (node.tracked_kinds & kind_bit(data.kind())) != 0;
  const bool fit = tracks ? fits_tracking(node, data, path, seen) : rules_hold(node, data, path, seen);
  scope_ = here.outer;
  --depth_;
  return fit;
}

bool Evaluation::fits_tracking(const Node& node, const Json& data, const Path& path, Seen* seen) {
  Seen own(data.size());
  if (!rules_hold(node, data, path, &own)) return false;
  if (seen) seen->merge(own);
  return true;
}

bool Evaluation::rules_hold(const Node& node, const Json& data, const Path& path, Seen* seen) {
  const std::uint8_t kind = kind_bit(data.kind());
  const Rule* rule = compiled_.rules.data() + node.first_rule;
  const Rule* end = rule + node.rule_count;
  bool all = true;
  for (; rule != end; ++rule) {
    if ((rule->kinds & kind) == 0) continue;
    // Annotations of a failed neighbour do not count, so these keywords would report every part of the value.
    if (!all && rule->op >= Op::unevaluated_items) break;
    if (looks_at_value_alone(rule->op)) {
      if (value_holds(*rule, data)) continue;
      if (report_) explain_value(*rule, data, path);
    } else if (schemas_hold(*rule, data, path, seen)) {
      continue;
    }
    all = false;
    if (!collects_more()) break;
  }
  return all;
}

bool Evaluation::schemas_hold(const Rule& rule, const Json& data, const Path& path, Seen* seen) {
  switch (rule.op) {
    case Op::members: return members_hold(compiled_.member_rules[rule.first], data, path, seen);
    case Op::property_names: return names_hold(rule.first, data, path);
    case Op::items: return items_hold(compiled_.item_rules[rule.first], data, path, seen);
    case Op::contains: return contains_holds(compiled_.contains_rules[rule.first], data, path, seen);
    case Op::reference: return fits(rule.first, data, path, seen);
    case Op::dynamic_reference: return fits(dynamic_target(compiled_.dynamic_references[rule.first]), data, path, seen);
    case Op::all_of: return all_hold(rule, data, path, seen);
    case Op::any_of: return any_holds(rule, data, path, seen);
    case Op::one_of: return one_holds(rule, data, path, seen);
    case Op::negation: return negation_holds(rule.first, data, path);
    case Op::condition: return condition_holds(compiled_.conditions[rule.first], data, path, seen);
    case Op::dependent_schema: return !data.find(compiled_.names[rule.count]) || fits(rule.first, data, path, seen);
    // Nodes with these two rules always track, see Compiler::unevaluated.
    case Op::unevaluated_items: return unevaluated_items_hold(rule.first, data, path, *seen);
    case Op::unevaluated_properties: return unevaluated_members_hold(rule.first, data, path, *seen);
    default: return value_holds(rule, data);
  }
}

NodeIndex Evaluation::dynamic_target(const DynamicReference& reference) {
  NodeIndex target = reference.fallback;
  const DynamicAnchors& anchors = compiled_.dynamic_anchors[reference.anchors];
  spend(static_cast<std::uint64_t>(depth_));
  for (const Scope* scope = scope_; scope; scope = scope->outer) {
    const auto it = std::lower_bound(anchors.begin(), anchors.end(), std::pair(scope->resource, NodeIndex{0}));
    if (it != anchors.end() && it->first == scope->resource) target = it->second;
  }
  return target;
}

void Evaluation::explain_value(const Rule& rule, const Json& data, const Path& path) {
  spend(words_cost);
  std::vector<Violation> found;
  describe(compiled_, rule, data, found);
  const std::string pointer = pointer_of(path);
  for (Violation& violation : found) {
    violation.pointer = pointer;
    report_->add(std::move(violation));
  }
}

bool Evaluation::refuse(const Path& path, std::string_view keyword, std::string message) {
  report_->add({pointer_of(path), std::move(message), std::string(keyword)});
  return false;
}

}  // namespace cairn::schema
