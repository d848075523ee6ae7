// The names inside a schema document: the resources ($id) and anchors that it declares, and the targets of references.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "schema/compiled.h"
#include "schema/schema.h"

namespace cairn::schema {

// One schema in the document. `trail` names its pointer, see DocumentIndex::pointer_of.
struct Place {
  const Json* schema = nullptr;
  ResourceIndex resource = 0;
  std::uint32_t trail = 0;
};

// Collects faults up to a bound. Later faults are dropped, because the first ones usually explain them.
class Faults {
 public:
  void add(std::string pointer, std::string message) {
    if (found_.size() < faults_max) found_.push_back({std::move(pointer), std::move(message)});
  }
  bool full() const { return found_.size() >= faults_max; }
  bool empty() const { return found_.empty(); }
  std::vector<SchemaFault> take() { return std::move(found_); }

 private:
  static constexpr std::size_t faults_max = 20;
  std::vector<SchemaFault> found_;
};

// Borrows the document, which must outlive it.
class DocumentIndex {
 public:
  DocumentIndex(const Json& document, Faults& faults);

  const Place& root() const { return root_; }
  // The schema in `parent` under a keyword, or in a keyword's list or map.
  Place below(const Place& parent, std::string_view keyword, const Json& schema);
  Place below(const Place& parent, std::string_view keyword, std::string_view name, const Json& schema);
  Place below(const Place& parent, std::string_view keyword, std::size_t index, const Json& schema);

  // The error is a plain sentence.
  Result<Place, std::string> resolve(std::string_view reference, ResourceIndex from);
  // The places where resources declare this $dynamicAnchor, in no particular order.
  std::vector<Place> dynamic_anchors(std::string_view name) const;
  std::string pointer_of(const Place& place) const;
  std::string pointer_of(const Place& place, std::string_view keyword) const;

 private:
  // A step of a pointer. Pointers are written out only for faults. Keeping all of them would let a document with one
  // long name and many schemas below it use unbounded memory.
  struct Trail {
    std::uint32_t up;
    std::string_view token;  // part of the document, or a keyword; with a null address `index` counts
    std::size_t index;
  };
  struct Resource {
    std::string uri;
    Place root;
    std::map<std::string, Place, std::less<>> anchors;
    std::map<std::string, Place, std::less<>> dynamic_anchors;
  };

  std::uint32_t extend(std::uint32_t trail, std::string_view token, std::size_t index = 0);
  Place placed(const Json& schema, ResourceIndex outer, std::uint32_t trail);
  Place add_document(const Json& document, std::string uri);
  void walk(const Place& from);
  void declare(Place& place);
  void declare_anchor(const Place& place, std::string_view keyword);
  const Resource* find_resource(const std::string& uri);
  Result<Place, std::string> follow_pointer(const Place& from, std::string_view pointer);

  Faults& faults_;
  std::vector<Trail> trails_;
  std::deque<Resource> resources_;
  std::unordered_map<std::string, ResourceIndex> by_uri_;
  // A schema can occur at several places if the document shares values, as YAML aliases do.
  std::unordered_map<const Json*, std::vector<ResourceIndex>> walked_;
  Place root_;
};

}  // namespace cairn::schema
