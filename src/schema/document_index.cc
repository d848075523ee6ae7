#include "schema/document_index.h"

#include <algorithm>
#include <charconv>

#include "schema/characters.h"
#include "schema/keywords.h"
#include "schema/messages.h"
#include "schema/metaschema.h"
#include "schema/uri.h"

namespace cairn::schema {
namespace {

// The base URI of a document without $id, for resolving relative references.
constexpr std::string_view default_base = "document:///schema";

bool is_anchor_name(std::string_view name) {
  if (name.empty() || !(is_letter(name[0]) || name[0] == '_')) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

std::string unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
      out.push_back(token[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(token[i]);
    }
  }
  return out;
}

// `kept_token` points into the document and lives as long as it; a decoded reference does not.
const Json* child_of(const Json& value, std::string_view token, std::string_view& kept_token, std::size_t& index) {
  if (value.is_object()) {
    const auto& members = value.members();
    const auto it =
        std::lower_bound(members.begin(), members.end(), token,
                         [](const Json::Member& member, std::string_view key) { return member.key.view() < key; });
    if (it == members.end() || it->key != token) return nullptr;
    kept_token = it->key.view();
    return &it->value;
  }
  if (!value.is_array() || token.empty() || (token.size() > 1 && token[0] == '0')) return nullptr;
  const auto read = std::from_chars(token.data(), token.data() + token.size(), index);
  if (read.ec != std::errc() || read.ptr != token.data() + token.size() || index >= value.size()) return nullptr;
  kept_token = {};
  return &value.items()[index];
}

}  // namespace

DocumentIndex::DocumentIndex(const Json& document, Faults& faults) : faults_(faults) {
  trails_.push_back({0, "", 0});
  root_ = add_document(document, std::string(default_base));
}

Place DocumentIndex::add_document(const Json& document, std::string uri) {
  const auto resource = static_cast<ResourceIndex>(resources_.size());
  Place place{&document, resource, 0};
  if (!by_uri_.empty()) place.trail = extend(0, document.text_or("$id", ""));
  by_uri_.emplace(uri, resource);
  resources_.push_back({std::move(uri), place, {}, {}});
  if (const Json* id = document.find("$id"); id && id->is_string()) {
    // The document's $id replaces the default base.
    resources_.back().uri = resolve_uri(resources_.back().uri, id->as_string());
    by_uri_.emplace(resources_.back().uri, resource);
  }
  walk(place);
  return place;
}

std::uint32_t DocumentIndex::extend(std::uint32_t trail, std::string_view token, std::size_t index) {
  trails_.push_back({trail, token, index});
  return static_cast<std::uint32_t>(trails_.size() - 1);
}

Place DocumentIndex::placed(const Json& schema, ResourceIndex outer, std::uint32_t trail) {
  Place place{&schema, outer, trail};
  if (const Json* id = schema.find("$id"); id && id->is_string()) {
    const auto it = by_uri_.find(resolve_uri(resources_[outer].uri, id->as_string()));
    if (it != by_uri_.end()) place.resource = it->second;
  }
  return place;
}

Place DocumentIndex::below(const Place& parent, std::string_view keyword, const Json& schema) {
  return placed(schema, parent.resource, extend(parent.trail, keyword));
}
Place DocumentIndex::below(const Place& parent, std::string_view keyword, std::string_view name, const Json& schema) {
  return placed(schema, parent.resource, extend(extend(parent.trail, keyword), name));
}
Place DocumentIndex::below(const Place& parent, std::string_view keyword, std::size_t index, const Json& schema) {
  return placed(schema, parent.resource, extend(extend(parent.trail, keyword), std::string_view(), index));
}

void DocumentIndex::walk(const Place& from) {
  std::vector<Place> pending{from};
  while (!pending.empty() && !faults_.full()) {
    Place place = pending.back();
    pending.pop_back();
    if (!place.schema->is_object()) continue;
    declare(place);
    auto& seen_in = walked_[place.schema];
    if (std::find(seen_in.begin(), seen_in.end(), place.resource) != seen_in.end()) continue;
    seen_in.push_back(place.resource);
    for (const Json::Member& member : place.schema->members()) {
      const Json& held = member.value;
      const Holds holds = schemas_held_by(member.key);
      if (holds == Holds::nothing) continue;
      const std::uint32_t trail = extend(place.trail, member.key);
      if (holds == Holds::schema) {
        pending.push_back({&held, place.resource, trail});
      } else if (holds == Holds::list && held.is_array()) {
        for (std::size_t i = 0; i < held.size(); ++i) {
          pending.push_back({&held.items()[i], place.resource, extend(trail, {}, i)});
        }
      } else if (holds == Holds::map && held.is_object()) {
        for (const Json::Member& entry : held.members()) {
          pending.push_back({&entry.value, place.resource, extend(trail, entry.key)});
        }
      }
    }
  }
}

void DocumentIndex::declare(Place& place) {
  const Json& schema = *place.schema;
  const bool is_resource_root = resources_[place.resource].root.schema == place.schema;
  if (const Json* id = schema.find("$id"); id && id->is_string()) {
    const UriParts parts = split_uri(id->as_string());
    if (!is_uri_reference(id->as_string())) {
      faults_.add(pointer_of(place, "$id"), "`$id` must be a URI or a relative reference");
    } else if (!parts.fragment.empty()) {
      faults_.add(pointer_of(place, "$id"), "`$id` must not have a fragment; use `$anchor`");
    } else if (!is_resource_root) {
      std::string uri = resolve_uri(resources_[place.resource].uri, id->as_string());
      const auto [known, fresh] = by_uri_.emplace(uri, static_cast<ResourceIndex>(resources_.size()));
      place.resource = known->second;
      if (fresh) {
        resources_.push_back({std::move(uri), place, {}, {}});
      } else if (resources_[known->second].root.schema != &schema) {
        faults_.add(pointer_of(place, "$id"), "the `$id` " + quoted(id->as_string()) + " is used twice");
      }
    }
  }
  declare_anchor(place, "$anchor");
  declare_anchor(place, "$dynamicAnchor");
}

void DocumentIndex::declare_anchor(const Place& place, std::string_view keyword) {
  const Json* name = place.schema->find(keyword);
  if (!name || !name->is_string()) return;
  if (!is_anchor_name(name->as_string())) {
    faults_.add(pointer_of(place, keyword),
                "an anchor begins with a letter or _ and continues with letters, digits, - _ and .");
    return;
  }
  Resource& resource = resources_[place.resource];
  const std::string key(name->as_string());
  const auto [known, fresh] = resource.anchors.emplace(key, place);
  if (!fresh && known->second.schema != place.schema) {
    faults_.add(pointer_of(place, keyword), "the anchor " + quoted(key) + " is declared twice");
  }
  if (keyword == "$dynamicAnchor") resource.dynamic_anchors.emplace(key, place);
}

const DocumentIndex::Resource* DocumentIndex::find_resource(const std::string& uri) {
  auto it = by_uri_.find(uri);
  if (it == by_uri_.end() && uri == metaschema_uri) {
    add_document(metaschema(), uri);
    it = by_uri_.find(uri);
  }
  return it == by_uri_.end() ? nullptr : &resources_[it->second];
}

Result<Place, std::string> DocumentIndex::resolve(std::string_view reference, ResourceIndex from) {
  if (!is_uri_reference(reference)) return quoted(reference) + " is not a valid reference";
  const UriParts parts = split_uri(reference);
  const Resource* resource = find_resource(resolve_uri(resources_[from].uri, reference));
  if (!resource) {
    return quoted(reference) +
           " leads outside of this document; remote references are not supported, so put the schema under `$defs`";
  }
  const std::string fragment = percent_decoded(parts.fragment);
  if (fragment.empty()) return resource->root;
  if (fragment[0] == '/') {
    const Place root = resource->root;
    auto found = follow_pointer(root, fragment);
    if (!found) return quoted(reference) + " " + found.error();
    return found;
  }
  const auto anchor = resource->anchors.find(fragment);
  if (anchor == resource->anchors.end()) return quoted(reference) + " names an anchor that is not declared";
  return anchor->second;
}

Result<Place, std::string> DocumentIndex::follow_pointer(const Place& from, std::string_view pointer) {
  Place place = from;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = pointer.find('/');
    const std::string token = unescaped(pointer.substr(0, end));
    pointer = end == std::string_view::npos ? std::string_view() : pointer.substr(end);
    std::string_view kept;
    std::size_t index = 0;
    const Json* child = child_of(*place.schema, token, kept, index);
    if (!child) return std::string("leads to nothing in this document");
    const bool was_schema = walked_.contains(child);
    const std::uint32_t trail = extend(place.trail, kept, index);
    place = was_schema ? placed(*child, place.resource, trail) : Place{child, place.resource, trail};
  }
  if (!place.schema->is_object() && !place.schema->is_bool())
    return std::string("leads to a value that is not a schema");
  // A value under an unknown keyword becomes a schema when a reference points to it.
  if (place.schema->is_object() && !walked_.contains(place.schema)) {
    walk(place);
    return placed(*place.schema, place.resource, place.trail);
  }
  return place;
}

std::vector<Place> DocumentIndex::dynamic_anchors(std::string_view name) const {
  std::vector<Place> out;
  for (const Resource& resource : resources_) {
    const auto it = resource.dynamic_anchors.find(name);
    if (it != resource.dynamic_anchors.end()) out.push_back(it->second);
  }
  return out;
}

std::string DocumentIndex::pointer_of(const Place& place) const {
  std::vector<std::uint32_t> steps;
  for (std::uint32_t at = place.trail; at != 0; at = trails_[at].up) steps.push_back(at);
  std::string out;
  for (auto it = steps.rbegin(); it != steps.rend(); ++it) {
    const Trail& step = trails_[*it];
    out += '/';
    out += step.token.data() ? escape_pointer(step.token) : std::to_string(step.index);
  }
  return out;
}

std::string DocumentIndex::pointer_of(const Place& place, std::string_view keyword) const {
  return pointer_of(place) + "/" + escape_pointer(keyword);
}

}  // namespace cairn::schema
