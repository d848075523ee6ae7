#include "definition/cursor.h"

namespace cairn {

std::optional<Cursor> Cursor::find(std::string_view key) const {
  const SourceMember* found = node_->find_member(key);
  if (found == nullptr) return std::nullopt;
  return member(*found);
}

SourcePlace Cursor::key_at() const {
  if (member_ != nullptr) return member_->key_at;
  if (parent_ == nullptr && node_->at.line > 0) return {1, 1};
  return node_->at;
}

std::string Cursor::name() const {
  for (const Cursor* c = this; c != nullptr; c = c->parent_) {
    if (c->member_ != nullptr) return "`" + c->member_->key + "`";
  }
  return "the document";
}

void Cursor::append_pointer(std::string& out) const {
  if (parent_ == nullptr) return;
  parent_->append_pointer(out);
  out += '/';
  out += member_ != nullptr ? escape_pointer(member_->key) : std::to_string(index_);
}

std::string Cursor::pointer() const {
  std::string out;
  append_pointer(out);
  return out;
}

std::string Cursor::pointer_to(std::string_view key) const { return pointer() + "/" + escape_pointer(key); }

SourcePlace place_at_pointer(const SourceNode& node, std::string_view pointer) {
  const SourceNode* at = &node;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    const std::string_view token = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(token.size());
    const SourceNode* next = nullptr;
    for (const SourceMember& member : at->members) {
      if (escape_pointer(member.key) == token) next = &member.value;
    }
    for (std::size_t i = 0; i < at->items.size(); ++i) {
      if (std::to_string(i) == token) next = &at->items[i];
    }
    if (next == nullptr) break;
    at = next;
  }
  return at->at;
}

std::string describe(const SourceNode& node) {
  constexpr std::size_t shown_max = 40;
  switch (node.kind) {
    case Json::Kind::null: return "nothing";
    case Json::Kind::boolean: return node.scalar.as_bool() ? "`true`" : "`false`";
    case Json::Kind::integer:
    case Json::Kind::number: return "the number " + write_json(node.scalar);
    case Json::Kind::string: {
      const std::string_view text = node.scalar.as_string();
      if (text.empty()) return "empty text";
      if (text.size() > shown_max) return "text";
      return "the text " + write_json(node.scalar);
    }
    case Json::Kind::array: return node.items.empty() ? "an empty list" : "a list";
    case Json::Kind::object: return node.members.empty() ? "an empty object" : "an object";
  }
  return "something else";
}

bool nests_deeper_than(const Json& value, int levels) {
  if (!value.is_array() && !value.is_object()) return false;
  if (levels == 0) return true;
  if (value.is_array()) {
    for (const Json& item : value.items()) {
      if (nests_deeper_than(item, levels - 1)) return true;
    }
    return false;
  }
  for (const Json::Member& member : value.members()) {
    if (nests_deeper_than(member.value, levels - 1)) return true;
  }
  return false;
}

SourceNode source_of(const Json& value) {
  SourceNode node;
  node.kind = value.kind();
  if (value.is_array()) {
    node.items.reserve(value.size());
    for (const Json& item : value.items()) node.items.push_back(source_of(item));
  } else if (value.is_object()) {
    node.members.reserve(value.size());
    for (const Json::Member& member : value.members()) {
      node.members.push_back({member.key.str(), {}, source_of(member.value)});
    }
  } else {
    node.scalar = value;
  }
  return node;
}

}  // namespace cairn
