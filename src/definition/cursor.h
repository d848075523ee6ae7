// A node of the source with its path, which messages about the node need.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "definition/source.h"

namespace cairn {

// Borrows the node and the cursor of its parent. It lives on the stack of the function that walks the tree.
class Cursor {
 public:
  explicit Cursor(const SourceNode& root) : node_(&root) {}

  Cursor member(const SourceMember& of_this) const { return Cursor(of_this.value, this, &of_this, 0); }
  Cursor item(std::size_t index) const { return Cursor(node_->items[index], this, nullptr, index); }
  std::optional<Cursor> find(std::string_view key) const;

  bool is_item() const { return parent_ != nullptr && member_ == nullptr; }
  const SourceNode& node() const { return *node_; }
  SourcePlace at() const { return node_->at; }
  // The place of the node's key, for messages about what the node lacks. A list item has no key and answers its own
  // place; the document answers 1:1 (rule X2).
  SourcePlace key_at() const;
  // The nearest key above, or the words "the document"; for messages.
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

// The place of a JSON pointer below `node`, as far as the path exists.
SourcePlace place_at_pointer(const SourceNode& node, std::string_view pointer);

// Describes a node in words: `the number 5`, `a list`, `nothing`.
std::string describe(const SourceNode& node);

// Stops at `levels`, so values of any depth are safe.
bool nests_deeper_than(const Json& value, int levels);

// The same tree as `value`, without places. Members are sorted by key.
SourceNode source_of(const Json& value);

}  // namespace cairn
