// Compiles a schema document into Compiled and collects all its faults.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "schema/compiled.h"
#include "schema/document_index.h"
#include "schema/schema.h"

namespace cairn::schema {

class Compiler {
 public:
  Compiler(const Json& document, const Options& options);
  Result<std::shared_ptr<const Compiled>, std::vector<SchemaFault>> run();

  // One keyword at one place.
  struct Site {
    const Place& place;
    std::string_view keyword;
    const Json& value;
  };

 private:
  friend struct KeywordTable;

  struct NodeKey {
    const Json* schema;
    ResourceIndex resource;
    bool operator==(const NodeKey&) const = default;
  };
  struct NodeKeyHash {
    std::size_t operator()(const NodeKey& key) const {
      return std::hash<const void*>()(key.schema) * 31 + key.resource;
    }
  };

  NodeIndex node_for(const Place& place);
  void compile_pending();
  void compile_node(const Place& place, NodeIndex index);
  void link_dynamic_references();
  void refuse_reference_cycles();

  void fault(const Site& site, std::string message);
  void fault_below(const Site& site, std::string_view token, std::string message);
  void add(Op op, std::uint8_t kinds, std::uint32_t first, std::uint64_t count = 0);
  std::uint32_t keep(const Json& value);
  std::uint32_t keep_name(std::string_view name);

  // Keywords that check only the current value: compile_assertions.cc.
  void text_annotation(const Site& site);
  void flag_annotation(const Site& site);
  void list_annotation(const Site& site);
  void dialect(const Site& site);
  void vocabulary(const Site& site);
  void type(const Site& site);
  void constant(const Site& site);
  void one_of_values(const Site& site);
  void bound(const Site& site);
  void multiple_of(const Site& site);
  void size_bound(const Site& site);
  void pattern(const Site& site);
  void format(const Site& site);
  void unique_items(const Site& site);
  void required(const Site& site);
  void dependent_required(const Site& site);
  std::optional<std::uint64_t> count(const Site& site);
  std::optional<std::uint32_t> compiled_pattern(const Site& site, std::string_view text, bool is_name);
  bool keep_names(const Site& site, const Json& names, std::string_view below);

  // Keywords that hold schemas: compile_applicators.cc.
  void reference(const Site& site);
  void dynamic_reference(const Site& site);
  void branches(const Site& site);
  void negation(const Site& site);
  void dependent_schemas(const Site& site);
  void property_names(const Site& site);
  void unevaluated(const Site& site);
  void definitions(const Site& site);
  void single_schema(const Site& site);
  void members(const Site& site);
  void items(const Site& site);
  void contains(const Site& site);
  void condition(const Site& site);
  bool is_map(const Site& site);
  bool is_list(const Site& site);

  Options options_;
  Faults faults_;
  std::shared_ptr<Compiled> compiled_;
  std::optional<DocumentIndex> index_;
  std::unordered_map<NodeKey, NodeIndex, NodeKeyHash> nodes_;
  std::vector<Place> places_;  // of each node
  NodeIndex next_ = 0;         // the first node that is not compiled yet
  std::unordered_map<std::string, std::uint32_t> patterns_;
  std::size_t patterns_size_ = 0;                       // total size of their programs
  std::map<std::string, std::uint32_t> dynamic_names_;  // to dynamic_anchors

  // The rules of the node that is being compiled.
  std::vector<Rule> rules_;
  std::uint8_t tracked_kinds_ = 0;
};

}  // namespace cairn::schema
