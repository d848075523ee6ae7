// A node of the source together with the way to it: where messages about it belong.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "definition/source.h"

namespace cairn {

// Borrows the node and the cursor of its parent; lives on the stack of whoever walks the tree.
class Cursor {
 public:
  explicit Cursor(const SourceNode& root) : node_(&root) {}

  Cursor member(const SourceMember& of_this) const { return Cursor(of_this.value, this, &of_this, 0); }
  Cursor item(std::size_t index) const { return Cursor(node_->items[index], this, nullptr, index); }
  std::optional<Cursor> find(std::string_view key) const;

  bool is_item() const { return parent_ != nullptr && member_ == nullptr; }
  const SourceNode& node() const { return *node_; }
  SourcePlace at() const { return node_->at; }
  // The key it stands under, for messages about what it lacks; a list's item has none and answers with its own
  // place, the document with 1:1 (SEMANTICS X2).
  SourcePlace key_at() const;
  // The nearest key above or the word "the document", for messages.
  std::string name() const;
  std::string pointer() const;
  std::string pointer_to(std::string_view key) const;

 private:
  Cursor(const SourceNode& node, const Cursor* parent, const SourceMember* member, std::size_t index)
      : node_(&node), parent_(parent), member_(member), index_(index) {}
  void append_pointer(std::string& out) const;

  const SourceNode* node_;
  const Cursor* parent_ = nullptr;
  const SourceMember* member_ = nullptr;
  std::size_t index_ = 0;
};

// Where a JSON pointer leads below `node`; as far as it exists.
SourcePlace place_at_pointer(const SourceNode& node, std::string_view pointer);

// What a node is, in words: `the number 5`, `a list`, `nothing`.
std::string describe(const SourceNode& node);

// Looks no further than it must, so that a value of any depth is safe to ask about.
bool nests_deeper_than(const Json& value, int levels);

// The same tree as `value`, without places; members come in the order of their keys.
SourceNode source_of(const Json& value);

}  // namespace cairn
