#include <algorithm>

#include "schema/compiler.h"
#include "schema/messages.h"
#include "schema/uri.h"

namespace cairn::schema {
namespace {

// Of keywords that are compiled together, the first one present does the work.
bool leads(const Compiler::Site& site, std::initializer_list<std::string_view> partners) {
  for (const std::string_view partner : partners) {
    if (site.place.schema->find(partner)) return partner == site.keyword;
  }
  return false;
}

}  // namespace

bool Compiler::is_map(const Site& site) {
  if (!site.value.is_object()) fault(site, quoted(site.keyword) + " must be an object");
  return site.value.is_object();
}

bool Compiler::is_list(const Site& site) {
  const bool list = site.value.is_array() && site.value.size() > 0;
  if (!list) fault(site, quoted(site.keyword) + " must be an array of at least one schema");
  return list;
}

void Compiler::reference(const Site& site) {
  if (!site.value.is_string()) return fault(site, "`$ref` must be a string");
  const auto target = index_->resolve(site.value.as_string(), site.place.resource);
  if (!target) return fault(site, target.error());
  add(Op::reference, any_kind, node_for(*target));
}

void Compiler::dynamic_reference(const Site& site) {
  if (!site.value.is_string()) return fault(site, "`$dynamicRef` must be a string");
  const auto target = index_->resolve(site.value.as_string(), site.place.resource);
  if (!target) return fault(site, target.error());
  const std::string name = percent_decoded(split_uri(site.value.as_string()).fragment);
  const NodeIndex node = node_for(*target);
  if (name.empty() || target->schema->text_or("$dynamicAnchor", "") != name) return add(Op::reference, any_kind, node);
  add(Op::dynamic_reference, any_kind, static_cast<std::uint32_t>(compiled_->dynamic_references.size()));
  const auto anchors = static_cast<std::uint32_t>(compiled_->dynamic_anchors.size());
  const auto [known, fresh] = dynamic_names_.emplace(name, anchors);
  if (fresh) compiled_->dynamic_anchors.emplace_back();
  compiled_->dynamic_references.push_back({node, known->second});
  compiled_->has_dynamic_references = true;
}

void Compiler::branches(const Site& site) {
  if (!is_list(site)) return;
  const auto first = static_cast<std::uint32_t>(compiled_->children.size());
  for (std::size_t i = 0; i < site.value.size(); ++i) {
    compiled_->children.push_back(node_for(index_->below(site.place, site.keyword, i, site.value.items()[i])));
  }
  const Op op = site.keyword == "allOf" ? Op::all_of : site.keyword == "anyOf" ? Op::any_of : Op::one_of;
  add(op, any_kind, first, site.value.size());
}

void Compiler::negation(const Site& site) {
  add(Op::negation, any_kind, node_for(index_->below(site.place, site.keyword, site.value)));
}

void Compiler::dependent_schemas(const Site& site) {
  if (!is_map(site)) return;
  for (const Json::Member& member : site.value.members()) {
    const NodeIndex node = node_for(index_->below(site.place, site.keyword, member.key.view(), member.value));
    add(Op::dependent_schema, objects, node, keep_name(member.key));
  }
}

void Compiler::property_names(const Site& site) {
  add(Op::property_names, objects, node_for(index_->below(site.place, site.keyword, site.value)));
}

void Compiler::unevaluated(const Site& site) {
  const bool of_items = site.keyword == "unevaluatedItems";
  const std::uint8_t kind = of_items ? arrays : objects;
  tracked_kinds_ |= kind;
  add(of_items ? Op::unevaluated_items : Op::unevaluated_properties, kind,
      node_for(index_->below(site.place, site.keyword, site.value)));
}

// Unreferenced definitions are compiled too, so that their faults are found.
void Compiler::definitions(const Site& site) {
  if (!is_map(site)) return;
  for (const Json::Member& member : site.value.members()) {
    node_for(index_->below(site.place, site.keyword, member.key.view(), member.value));
  }
}

void Compiler::single_schema(const Site& site) { node_for(index_->below(site.place, site.keyword, site.value)); }

void Compiler::members(const Site& site) {
  if (site.keyword != "additionalProperties" && !is_map(site)) return;
  if (!leads(site, {"additionalProperties", "patternProperties", "properties"})) return;
  MemberRules rules;
  const Json& schema = *site.place.schema;
  if (const Json* properties = schema.find("properties"); properties && properties->is_object()) {
    for (const Json::Member& member : properties->members()) {
      const Place place = index_->below(site.place, "properties", member.key.view(), member.value);
      rules.properties.emplace_back(member.key, node_for(place));
    }
  }
  if (const Json* patterns = schema.find("patternProperties"); patterns && patterns->is_object()) {
    const Site pattern_site{site.place, "patternProperties", *patterns};
    for (const Json::Member& member : patterns->members()) {
      const Place place = index_->below(site.place, "patternProperties", member.key.view(), member.value);
      const auto pattern = compiled_pattern(pattern_site, member.key, true);
      const NodeIndex node = node_for(place);
      if (pattern) rules.patterns.emplace_back(*pattern, node);
    }
  }
  if (const Json* additional = schema.find("additionalProperties")) {
    rules.additional = node_for(index_->below(site.place, "additionalProperties", *additional));
  }
  add(Op::members, objects, static_cast<std::uint32_t>(compiled_->member_rules.size()));
  compiled_->member_rules.push_back(std::move(rules));
}

void Compiler::items(const Site& site) {
  if (site.keyword == "prefixItems" && !is_list(site)) return;
  if (site.keyword == "items" && site.value.is_array()) {
    return fault(site, "`items` must be one schema; a list of them is `prefixItems` in draft 2020-12");
  }
  if (!leads(site, {"items", "prefixItems"})) return;
  ItemRules rules;
  if (const Json* prefix = site.place.schema->find("prefixItems"); prefix && prefix->is_array()) {
    for (std::size_t i = 0; i < prefix->size(); ++i) {
      rules.prefix.push_back(node_for(index_->below(site.place, "prefixItems", i, prefix->items()[i])));
    }
  }
  if (const Json* rest = site.place.schema->find("items")) {
    rules.rest = node_for(index_->below(site.place, "items", *rest));
  }
  add(Op::items, arrays, static_cast<std::uint32_t>(compiled_->item_rules.size()));
  compiled_->item_rules.push_back(std::move(rules));
}

void Compiler::contains(const Site& site) {
  ContainsRule rule;
  rule.node = node_for(index_->below(site.place, site.keyword, site.value));
  // The handler of the bound's own keyword reports an invalid bound.
  const auto bound = [&](std::string_view keyword, std::uint64_t otherwise) {
    const Json* value = site.place.schema->find(keyword);
    if (!value || !value->is_number() || value->as_double() < 0) return otherwise;
    return static_cast<std::uint64_t>(std::min(value->as_double(), 9007199254740992.0));
  };
  rule.min = bound("minContains", 1);
  rule.max = bound("maxContains", UINT64_MAX);
  add(Op::contains, arrays, static_cast<std::uint32_t>(compiled_->contains_rules.size()));
  compiled_->contains_rules.push_back(rule);
}

void Compiler::condition(const Site& site) {
  Condition condition;
  condition.test = node_for(index_->below(site.place, site.keyword, site.value));
  if (const Json* then = site.place.schema->find("then")) {
    condition.then = node_for(index_->below(site.place, "then", *then));
  }
  if (const Json* otherwise = site.place.schema->find("else")) {
    condition.otherwise = node_for(index_->below(site.place, "else", *otherwise));
  }
  add(Op::condition, any_kind, static_cast<std::uint32_t>(compiled_->conditions.size()));
  compiled_->conditions.push_back(condition);
}

}  // namespace cairn::schema
