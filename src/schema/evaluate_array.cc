#include <algorithm>

#include "schema/evaluation.h"
#include "schema/messages.h"

namespace cairn::schema {

bool Evaluation::items_hold(const ItemRules& rules, const Json& data, const Path& path, Seen* seen) {
  const auto& items = data.items();
  const std::size_t prefix = std::min(rules.prefix.size(), items.size());
  const std::size_t evaluated = rules.rest == no_node ? prefix : items.size();
  bool all = true;
  spend(evaluated);
  for (std::size_t i = 0; i < evaluated; ++i) {
    if (i >= prefix && compiled_.nodes[rules.rest].never) {
      if (report_) refuse(path, "items", "must have at most " + counted(prefix, "item"));
      return false;
    }
    if (seen) seen->mark(i);
    if (fits(i < prefix ? rules.prefix[i] : rules.rest, items[i], Path{&path, nullptr, i}, nullptr)) continue;
    all = false;
    if (!collects_more()) break;
  }
  return all;
}

bool Evaluation::contains_holds(const ContainsRule& rule, const Json& data, const Path& path, Seen* seen) {
  const auto& items = data.items();
  std::uint64_t found = 0;
  spend(items.size());
  {
    const Silence silence(*this);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!fits(rule.node, items[i], Path{&path, nullptr, i}, nullptr)) continue;
      ++found;
      if (seen) seen->mark(i);
      if (found > rule.max || (!seen && found >= rule.min && rule.max == UINT64_MAX)) break;
    }
  }
  if (found >= rule.min && found <= rule.max) return true;
  if (!report_) return false;
  return found < rule.min
             ? refuse(path, rule.min == 1 ? "contains" : "minContains",
                      "must contain at least " + counted(rule.min, "item") +
                          " of the kind that `contains` describes, but has " + std::to_string(found))
             : refuse(path, "maxContains",
                      "must contain at most " + counted(rule.max, "item") + " of the kind that `contains` describes");
}

bool Evaluation::unevaluated_items_hold(NodeIndex node, const Json& data, const Path& path, Seen& seen) {
  const auto& items = data.items();
  bool all = true;
  spend(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (seen.has(i)) continue;
    const Path below{&path, nullptr, i};
    if (compiled_.nodes[node].never) {
      if (report_) refuse(below, "unevaluatedItems", "is not an allowed item");
    } else if (fits(node, items[i], below, nullptr)) {
      continue;
    }
    all = false;
    if (!collects_more()) break;
  }
  seen.mark_all();
  return all;
}

}  // namespace cairn::schema
