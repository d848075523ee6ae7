// The text of a definition as a tree in which every node knows its place. Made from YAML or JSON;
// nothing behind this header knows which it was.
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
  Json scalar;                         // the value, when it is no list and no map
  Json::Kind kind = Json::Kind::null;  // array and object for list and map
  std::vector<SourceNode> items;
  std::vector<SourceMember> members;  // in the order written, keys unique
  SourcePlace at;                     // where it begins
  // For text: where its characters stand in the source, for `SourceDocument::place_in`.
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
  // YAML 1.2 core schema or JSON (text whose first character is `{` is tried as JSON). One document, no
  // tags beyond the core ones, no merge keys, no duplicate keys, aliases expanded up to the limit,
  // plain-word messages (SEMANTICS V1, X2-X5). Appends at least one error when `root()` is not usable.
  static SourceDocument read(std::string_view text, const Limits& limits, std::vector<Diagnostic>& findings);

  bool usable() const { return usable_; }
  const SourceNode& root() const { return root_; }
  // The place of byte `offset` of a text node's decoded value, also inside folded, literal and
  // quoted text (SEMANTICS X6).
  SourcePlace place_in(const SourceNode& node, std::size_t offset) const;

 private:
  SourceText text_;
  SourceNode root_;
  bool usable_ = false;
};

}  // namespace cairn
