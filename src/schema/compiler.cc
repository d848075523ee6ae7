#include "schema/compiler.h"

#include <algorithm>
#include <array>

namespace cairn::schema {

using Handler = void (Compiler::*)(const Compiler::Site&);

// Every keyword of the draft; others are ignored. Keywords that work together are compiled by the alphabetically first
// one present, so each handler looks up its partners itself.
struct KeywordTable {
  std::string_view name;
  Handler handler;

  static const KeywordTable* find(std::string_view keyword);
};

const KeywordTable* KeywordTable::find(std::string_view keyword) {
  static constexpr std::array<KeywordTable, 56> table = {{
      {"$anchor", &Compiler::text_annotation},
      {"$comment", &Compiler::text_annotation},
      {"$defs", &Compiler::definitions},
      {"$dynamicAnchor", &Compiler::text_annotation},
      {"$dynamicRef", &Compiler::dynamic_reference},
      {"$id", &Compiler::text_annotation},
      {"$ref", &Compiler::reference},
      {"$schema", &Compiler::dialect},
      {"$vocabulary", &Compiler::vocabulary},
      {"additionalProperties", &Compiler::members},
      {"allOf", &Compiler::branches},
      {"anyOf", &Compiler::branches},
      {"const", &Compiler::constant},
      {"contains", &Compiler::contains},
      {"contentEncoding", &Compiler::text_annotation},
      {"contentMediaType", &Compiler::text_annotation},
      {"contentSchema", &Compiler::single_schema},
      {"dependentRequired", &Compiler::dependent_required},
      {"dependentSchemas", &Compiler::dependent_schemas},
      {"deprecated", &Compiler::flag_annotation},
      {"description", &Compiler::text_annotation},
      {"else", &Compiler::single_schema},
      {"enum", &Compiler::one_of_values},
      {"examples", &Compiler::list_annotation},
      {"exclusiveMaximum", &Compiler::bound},
      {"exclusiveMinimum", &Compiler::bound},
      {"format", &Compiler::format},
      {"if", &Compiler::condition},
      {"items", &Compiler::items},
      {"maxContains", &Compiler::size_bound},
      {"maxItems", &Compiler::size_bound},
      {"maxLength", &Compiler::size_bound},
      {"maxProperties", &Compiler::size_bound},
      {"maximum", &Compiler::bound},
      {"minContains", &Compiler::size_bound},
      {"minItems", &Compiler::size_bound},
      {"minLength", &Compiler::size_bound},
      {"minProperties", &Compiler::size_bound},
      {"minimum", &Compiler::bound},
      {"multipleOf", &Compiler::multiple_of},
      {"not", &Compiler::negation},
      {"oneOf", &Compiler::branches},
      {"pattern", &Compiler::pattern},
      {"patternProperties", &Compiler::members},
      {"prefixItems", &Compiler::items},
      {"properties", &Compiler::members},
      {"propertyNames", &Compiler::property_names},
      {"readOnly", &Compiler::flag_annotation},
      {"required", &Compiler::required},
      {"then", &Compiler::single_schema},
      {"title", &Compiler::text_annotation},
      {"type", &Compiler::type},
      {"unevaluatedItems", &Compiler::unevaluated},
      {"unevaluatedProperties", &Compiler::unevaluated},
      {"uniqueItems", &Compiler::unique_items},
      {"writeOnly", &Compiler::flag_annotation},
  }};
  static_assert(std::is_sorted(table.begin(), table.end(),
                               [](const KeywordTable& a, const KeywordTable& b) { return a.name < b.name; }));
  const auto it =
      std::lower_bound(table.begin(), table.end(), keyword,
                       [](const KeywordTable& entry, std::string_view wanted) { return entry.name < wanted; });
  return it != table.end() && it->name == keyword ? &*it : nullptr;
}

Compiler::Compiler(const Json& document, const Options& options)
    : options_(options), compiled_(std::make_shared<Compiled>()) {
  compiled_->document = document;
}

Result<std::shared_ptr<const Compiled>, std::vector<SchemaFault>> Compiler::run() {
  index_.emplace(compiled_->document, faults_);
  compiled_->root = node_for(index_->root());
  compile_pending();
  link_dynamic_references();
  if (faults_.empty()) refuse_reference_cycles();
  if (!faults_.empty()) return faults_.take();
  return std::shared_ptr<const Compiled>(std::move(compiled_));
}

NodeIndex Compiler::node_for(const Place& place) {
  const auto index = static_cast<NodeIndex>(places_.size());
  const auto [known, fresh] = nodes_.emplace(NodeKey{place.schema, place.resource}, index);
  if (fresh) {
    places_.push_back(place);
    compiled_->nodes.emplace_back();
  }
  return known->second;
}

void Compiler::compile_pending() {
  while (next_ < places_.size() && !faults_.full()) {
    const Place place = places_[next_];
    compile_node(place, next_);
    ++next_;
  }
}

void Compiler::compile_node(const Place& place, NodeIndex index) {
  rules_.clear();
  tracked_kinds_ = 0;
  const Json& schema = *place.schema;
  if (schema.is_bool()) {
    if (!schema.as_bool()) add(Op::never, any_kind, 0);
    compiled_->nodes[index].never = !schema.as_bool();
  } else if (schema.is_object()) {
    for (const Json::Member& member : schema.members()) {
      const KeywordTable* keyword = KeywordTable::find(member.key);
      if (keyword) (this->*keyword->handler)({place, keyword->name, member.value});
    }
  } else {
    faults_.add(index_->pointer_of(place), "a schema must be an object, true or false");
  }
  std::stable_sort(rules_.begin(), rules_.end(), [](const Rule& a, const Rule& b) { return a.op < b.op; });
  Node& node = compiled_->nodes[index];
  node.resource = place.resource;
  node.tracked_kinds = tracked_kinds_;
  node.first_rule = static_cast<std::uint32_t>(compiled_->rules.size());
  node.rule_count = static_cast<std::uint32_t>(rules_.size());
  compiled_->rules.insert(compiled_->rules.end(), rules_.begin(), rules_.end());
}

// Linking can add schemas with further dynamic references and, through the metaschema, further anchors. It repeats
// until nothing is new.
void Compiler::link_dynamic_references() {
  for (std::size_t nodes_before = 0; nodes_before != places_.size() && !faults_.full();) {
    nodes_before = places_.size();
    for (const auto& [name, index] : dynamic_names_) {
      DynamicAnchors& anchors = compiled_->dynamic_anchors[index];
      anchors.clear();
      for (const Place& place : index_->dynamic_anchors(name)) {
        anchors.emplace_back(place.resource, node_for(place));
      }
      std::sort(anchors.begin(), anchors.end());
    }
    compile_pending();
  }
}

void Compiler::fault(const Site& site, std::string message) {
  faults_.add(index_->pointer_of(site.place, site.keyword), std::move(message));
}

void Compiler::fault_below(const Site& site, std::string_view token, std::string message) {
  faults_.add(index_->pointer_of(site.place, site.keyword) + "/" + escape_pointer(token), std::move(message));
}

void Compiler::add(Op op, std::uint8_t kinds, std::uint32_t first, std::uint64_t count) {
  rules_.push_back({op, kinds, first, count});
}

std::uint32_t Compiler::keep(const Json& value) {
  compiled_->values.push_back(value);
  return static_cast<std::uint32_t>(compiled_->values.size() - 1);
}

std::uint32_t Compiler::keep_name(std::string_view name) {
  compiled_->names.emplace_back(name);
  return static_cast<std::uint32_t>(compiled_->names.size() - 1);
}

}  // namespace cairn::schema
