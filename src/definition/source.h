// The text of a definition as a tree in which every node has its place. It is made from YAML or JSON; readers of the
// tree cannot tell which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/limits.h"
#include "definition/definition.h"
#include "definition/source_text.h"

namespace cairn {

struct SourceMember;

struct SourceNode {
  Json scalar;                         // the value, if it is neither a list nor a map
  Json::Kind kind = Json::Kind::null;  // array and object for list and map
  std::vector<SourceNode> items;
  std::vector<SourceMember> members;  // in the order written, keys unique
  SourcePlace at;                     // its start
  // For text: the position of its characters in the source, for `SourceDocument::place_in`.
  std::size_t begin = 0;  // byte offsets of the scalar in the source, quotes and indicators included
  std::size_t end = 0;

  const SourceNode* find(std::string_view key) const;
  const SourceMember* find_member(std::string_view key) const;
  Json to_json() const;
};

struct SourceMember {
  std::string key;
  SourcePlace key_at;
  SourceNode value;
};

class SourceDocument {
 public:
  // Reads the YAML 1.2 core schema or JSON. Text whose first character is `{` is tried as JSON first. It accepts one
  // document without merge keys, duplicate keys, or tags beyond the core ones. Aliases are expanded up to the limit.
  // Messages use plain words (rules V1, X2 to X5). It appends at least one error if `root()` is not usable.
  static SourceDocument read(std::string_view text, const Limits& limits, std::vector<Diagnostic>& findings);

  bool usable() const { return usable_; }
  const SourceNode& root() const { return root_; }
  // The place of byte `offset` of a text node's decoded value, also inside folded, literal and
  // quoted text (rule X6).
  SourcePlace place_in(const SourceNode& node, std::size_t offset) const;

 private:
  SourceText text_;
  SourceNode root_;
  bool usable_ = false;
};

}  // namespace cairn
