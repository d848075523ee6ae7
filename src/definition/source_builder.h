// Builds the tree of a source document from the events of a reader, in order. Aliases stay references until the whole
// text has been read, so their expansion is counted before it happens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "definition/source.h"

namespace cairn {

class SourceBuilder {
 public:
  SourceBuilder(const SourceText& text, const Limits& limits, std::vector<Diagnostic>& findings)
      : text_(text), limits_(limits), findings_(findings) {}

  // Positions are byte offsets. False if reading cannot continue; the finding has been added.
  void scalar(Json value, std::size_t begin, std::size_t end);
  bool begin_list(std::size_t at) { return begin(Json::Kind::array, at); }
  bool begin_map(std::size_t at) { return begin(Json::Kind::object, at); }
  void end();
  // The key of the next node. If `wanted` is false, the member is read and dropped.
  void key(std::string name, std::size_t at, bool wanted = true);
  // Names the next node for aliases.
  void anchor(std::string name) { next_anchor_ = std::move(name); }
  bool alias(const std::string& name, std::size_t at);
  // The text of an anchored scalar, for an alias used as a key.
  std::optional<Json> anchored_scalar(const std::string& name) const;

  // Adds an error at `at`, with the pointer of the node that is being read.
  void report(std::size_t at, std::string message);

  // Whether the document has no node, or only the null of an empty document.
  bool empty() const;
  // How many nodes it has, aliases expanded.
  std::uint64_t nodes() const { return nodes_; }
  SourceNode take();

 private:
  // One node in the order read; a list or map is followed by everything inside it.
  struct Entry {
    Json::Kind kind = Json::Kind::null;
    bool wanted = true;
    bool alias = false;
    std::uint16_t height = 0;  // levels of lists and maps, itself included
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t key_at = 0;
    std::uint32_t after = 0;   // the entry that follows this whole node
    std::uint32_t target = 0;  // of an alias
    std::uint64_t nodes = 1;   // with everything inside, aliases expanded
    Json scalar;
    std::string key;
  };
  struct Open {
    std::uint32_t entry;
    std::uint32_t children = 0;
  };

  bool begin(Json::Kind kind, std::size_t at);
  Entry& add(Json::Kind kind, std::size_t at);
  void close_node(std::uint32_t index);
  void drop_duplicates(const Open& open);
  std::string pointer() const;
  SourceNode build(std::uint32_t index) const;

  const SourceText& text_;
  const Limits& limits_;
  std::vector<Diagnostic>& findings_;
  std::vector<Entry> entries_;
  std::vector<Open> open_;
  std::unordered_map<std::string, std::uint32_t> anchors_;
  std::string next_anchor_;
  std::string next_key_;
  std::uint32_t next_key_at_ = 0;
  bool next_wanted_ = true;
  std::uint64_t nodes_ = 0;
};

}  // namespace cairn
