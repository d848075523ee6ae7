// Steps one after another on one axis, so the main path is always straight.
#include <algorithm>

#include "render/block.h"

namespace cairn::render {
namespace {

class NodeBlock final : public Block {
 public:
  NodeBlock(const Canvas& canvas, int node, bool is_end) {
    left = right = canvas.across(node) / 2;
    length = canvas.along(node);
    ends = is_end;
    head = tail = node;
    port = {right, length / 2, length};
  }
  void place(Canvas& canvas, Spot entry) const override {
    canvas.put_node(head, {entry.across, entry.along + length / 2});
  }
};

class SequenceBlock final : public Block {
 public:
  SequenceBlock(const Canvas& canvas, std::vector<BlockPtr> parts) : parts_(std::move(parts)) {
    left = right = parts_.empty() ? empty_half : canvas.spacing().half_reserve;
    gap_ = canvas.spacing().along;
    for (const BlockPtr& part : parts_) {
      left = std::max(left, part->left);
      right = std::max(right, part->right);
      length += part->length + (part == parts_.front() ? 0 : gap_);
      ends = ends || part->ends;
    }
    if (parts_.empty()) return;
    head = parts_.front()->head;
    tail = parts_.back()->tail;
    inset = parts_.front()->inset;
    port = parts_.front()->port;
  }

  void place(Canvas& canvas, Spot entry) const override {
    Spot at = entry;
    const Block* before = nullptr;
    for (const BlockPtr& part : parts_) {
      if (before) {
        const Spot from{at.across, at.along};
        at.along += gap_;
        // A step after an end is unreachable and not connected. The exception is `finally`, which runs on every way
        // out.
        if (!before->ends || canvas.shape(part->head) == Shape::cleanup) {
          Edge& edge = canvas.line({from, {at.across, at.along + part->inset}}, before->tail, part->head);
          edge.arrow = true;
          if (before->ends) edge.kind = LaneKind::failure;
        }
      }
      part->place(canvas, at);
      at.along += part->length;
      before = part.get();
    }
  }

 private:
  std::vector<BlockPtr> parts_;
  int gap_ = 0;
};

BlockPtr core_block(const Canvas& canvas, const Item& item) {
  switch (item.shape) {
    case Shape::decision:
    case Shape::race: return branch_block(canvas, item);
    case Shape::fork: return fork_block(canvas, item);
    case Shape::loop:
    case Shape::attempt:
    case Shape::cleanup: return container_block(canvas, item);
    default: break;
  }
  const bool ends = item.shape == Shape::complete || item.shape == Shape::fail || item.shape == Shape::jump;
  BlockPtr node = node_block(canvas, item.node, ends);
  for (const Lane& lane : item.lanes) {
    if (lane.kind != LaneKind::flow || lane.items.empty()) continue;
    std::vector<BlockPtr> parts;
    parts.push_back(std::move(node));
    parts.push_back(sequence_block(canvas, lane.items));
    return sequence_of(canvas, std::move(parts));
  }
  return node;
}

}  // namespace

BlockPtr node_block(const Canvas& canvas, int node, bool ends) {
  return std::make_unique<NodeBlock>(canvas, node, ends);
}

BlockPtr sequence_of(const Canvas& canvas, std::vector<BlockPtr> parts) {
  return std::make_unique<SequenceBlock>(canvas, std::move(parts));
}

BlockPtr sequence_block(const Canvas& canvas, const std::vector<Item>& items) {
  std::vector<BlockPtr> parts;
  parts.reserve(items.size());
  for (const Item& item : items) parts.push_back(with_side_lanes(canvas, core_block(canvas, item), item));
  return sequence_of(canvas, std::move(parts));
}

}  // namespace cairn::render
