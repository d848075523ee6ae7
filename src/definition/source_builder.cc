#include "definition/source_builder.h"

#include <algorithm>

namespace cairn {
namespace {

// More findings would hide the first ones.
constexpr std::size_t findings_max = 100;

}  // namespace

SourceBuilder::Entry& SourceBuilder::add(Json::Kind kind, std::size_t at) {
  const auto index = static_cast<std::uint32_t>(entries_.size());
  Entry& entry = entries_.emplace_back();
  entry.kind = kind;
  entry.begin = entry.end = static_cast<std::uint32_t>(at);
  entry.key = std::move(next_key_);
  entry.key_at = next_key_at_;
  entry.wanted = next_wanted_;
  entry.after = index + 1;
  next_key_.clear();
  next_wanted_ = true;
  if (!open_.empty()) ++open_.back().children;
  ++nodes_;
  if (!next_anchor_.empty()) {
    anchors_[next_anchor_] = index;
    next_anchor_.clear();
  }
  return entry;
}

void SourceBuilder::close_node(std::uint32_t index) {
  if (open_.empty()) return;
  Entry& parent = entries_[open_.back().entry];
  parent.nodes += entries_[index].nodes;
  parent.height = std::max<std::uint16_t>(parent.height, static_cast<std::uint16_t>(entries_[index].height + 1));
}

void SourceBuilder::scalar(Json value, std::size_t begin, std::size_t end) {
  Entry& entry = add(value.kind(), begin);
  entry.end = static_cast<std::uint32_t>(end);
  entry.scalar = std::move(value);
  close_node(static_cast<std::uint32_t>(entries_.size() - 1));
}

bool SourceBuilder::begin(Json::Kind kind, std::size_t at) {
  if (open_.size() >= static_cast<std::size_t>(limits_.json_depth_max)) {
    report(at, "nested deeper than " + std::to_string(limits_.json_depth_max) + " levels");
    return false;
  }
  const auto index = static_cast<std::uint32_t>(entries_.size());
  add(kind, at).height = 1;
  open_.push_back({index});
  return true;
}

void SourceBuilder::end() {
  const Open closed = open_.back();
  Entry& entry = entries_[closed.entry];
  entry.after = static_cast<std::uint32_t>(entries_.size());
  if (entry.kind == Json::Kind::object) drop_duplicates(closed);
  open_.pop_back();
  close_node(closed.entry);
}

void SourceBuilder::key(std::string name, std::size_t at, bool wanted) {
  next_key_ = std::move(name);
  next_key_at_ = static_cast<std::uint32_t>(at);
  next_wanted_ = wanted;
}

void SourceBuilder::drop_duplicates(const Open& open) {
  if (open.children < 2) return;
  std::vector<std::uint32_t> children;
  children.reserve(open.children);
  for (std::uint32_t i = open.entry + 1; i < entries_[open.entry].after; i = entries_[i].after) {
    if (entries_[i].wanted) children.push_back(i);
  }
  std::stable_sort(children.begin(), children.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return entries_[a].key < entries_[b].key; });
  std::size_t first = 0;
  for (std::size_t i = 1; i < children.size(); ++i) {
    Entry& entry = entries_[children[i]];
    const Entry& earlier = entries_[children[first]];
    if (entry.key != earlier.key) {
      first = i;
      continue;
    }
    entry.wanted = false;
    next_key_ = entry.key;
    report(entry.key_at, "duplicate key `" + entry.key + "`; line " + std::to_string(text_.place(earlier.key_at).line) +
                             " has it already");
    next_key_.clear();
  }
}

bool SourceBuilder::alias(const std::string& name, std::size_t at) {
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    report(at, "the alias `*" + name + "` names an anchor `&" + name + "` that does not come before it");
    return false;
  }
  const std::uint32_t target = found->second;
  const bool inside_itself =
      std::any_of(open_.begin(), open_.end(), [target](const Open& open) { return open.entry == target; });
  if (inside_itself) {
    report(at, "the alias `*" + name + "` is inside the node that it names");
    return false;
  }
  const std::uint64_t nodes = entries_[target].nodes;
  const std::uint16_t height = entries_[target].height;
  if (nodes_ + nodes > limits_.definition_nodes_max) {
    report(at, "the alias `*" + name + "` expands the document to more than " +
                   std::to_string(limits_.definition_nodes_max) + " nodes");
    return false;
  }
  if (open_.size() + height > static_cast<std::size_t>(limits_.json_depth_max)) {
    report(at, "the alias `*" + name + "` nests the document deeper than " + std::to_string(limits_.json_depth_max) +
                   " levels");
    return false;
  }
  next_anchor_.clear();
  Entry& entry = add(entries_[target].kind, at);
  entry.alias = true;
  entry.target = target;
  entry.nodes = nodes;
  entry.height = height;
  nodes_ += nodes - 1;
  close_node(static_cast<std::uint32_t>(entries_.size() - 1));
  return true;
}

std::optional<Json> SourceBuilder::anchored_scalar(const std::string& name) const {
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) return std::nullopt;
  const Entry& entry = entries_[found->second];
  if (entry.kind == Json::Kind::array || entry.kind == Json::Kind::object) return std::nullopt;
  return entry.scalar;
}

void SourceBuilder::report(std::size_t at, std::string message) {
  if (findings_.size() >= findings_max) return;
  const SourcePlace place = text_.place(at);
  findings_.push_back({Diagnostic::Severity::error, place.line, place.column, std::move(message), pointer()});
}

std::string SourceBuilder::pointer() const {
  std::string pointer;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    const bool innermost = i + 1 == open_.size();
    if (entries_[open_[i].entry].kind == Json::Kind::array) {
      pointer += "/" + std::to_string(innermost ? open_[i].children : open_[i].children - 1);
    } else if (!innermost) {
      pointer += "/" + escape_pointer(entries_[open_[i + 1].entry].key);
    } else if (!next_key_.empty()) {
      pointer += "/" + escape_pointer(next_key_);
    }
  }
  return pointer;
}

bool SourceBuilder::empty() const {
  if (entries_.empty()) return true;
  const Entry& root = entries_.front();
  return root.kind == Json::Kind::null && root.begin == root.end;
}

SourceNode SourceBuilder::take() { return build(0); }

SourceNode SourceBuilder::build(std::uint32_t index) const {
  const Entry& entry = entries_[index];
  if (entry.alias) {
    SourceNode node = build(entry.target);
    node.at = text_.place(entry.begin);
    return node;
  }
  SourceNode node;
  node.kind = entry.kind;
  node.scalar = entry.scalar;
  node.at = text_.place(entry.begin);
  node.begin = entry.begin;
  node.end = entry.end;
  for (std::uint32_t i = index + 1; i < entry.after; i = entries_[i].after) {
    if (entry.kind == Json::Kind::array) {
      node.items.push_back(build(i));
    } else if (entries_[i].wanted) {
      node.members.push_back({entries_[i].key, text_.place(entries_[i].key_at), build(i)});
    }
  }
  return node;
}

}  // namespace cairn
