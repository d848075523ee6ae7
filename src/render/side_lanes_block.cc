// The lanes that leave a step or a whole block: failure, timeout and deadline lanes, and the steps that undo it. They
// are always on the right. Those that return share one merge line.
#include <algorithm>

#include "render/block.h"

namespace cairn::render {
namespace {

bool comes_back(LaneKind kind) { return kind == LaneKind::failure || kind == LaneKind::timeout; }

class SideLanesBlock final : public Block {
 public:
  SideLanesBlock(const Canvas& canvas, BlockPtr core, const Item& item) : core_(std::move(core)) {
    head = core_->head;
    inset = core_->inset;
    port = core_->port;
    left = core_->left;
    right = std::max(core_->right, canvas.spacing().half_reserve);
    ends = core_->ends;
    std::vector<EdgeLabel> labels;
    for (const Lane& lane : item.lanes) {
      if (lane.kind == LaneKind::flow) continue;
      labels.push_back(canvas.label(lane.label));
      Column column{lane.kind, sequence_block(canvas, lane.items), labels.back(), 0};
      column.offset = right + canvas.spacing().across + std::max(column.part->left, empty_half);
      right = column.offset + std::max({column.part->right, column.label.across, empty_half});
      merges_ = merges_ || (comes_back(lane.kind) && !column.part->ends);
      columns_.push_back(std::move(column));
    }
    top_ = port.clear + canvas.lane_gap(labels);
    length = core_->length;
    for (const Column& column : columns_) length = std::max(length, top_ + column.part->length);
    if (merges_) length += merge_gap;
    ends = ends && !merges_;
    tail = merges_ ? head : core_->tail;
    single_ = core_->tail == core_->head && item.shape != Shape::decision && item.shape != Shape::race;
  }

  void place(Canvas& canvas, Spot entry) const override {
    core_->place(canvas, entry);
    const int bottom = entry.along + length;
    if (!core_->ends && core_->length < length) {
      Edge& on = canvas.line({{entry.across, entry.along + core_->length}, {entry.across, bottom}}, core_->tail, -1);
      on.bypass = single_;
    }
    const Spot from{entry.across + port.across, entry.along + port.along};
    for (const Column& column : columns_) {
      const Block& part = *column.part;
      const Spot top{entry.across + column.offset, entry.along + top_};
      const bool empty = part.head < 0;
      const bool merging = comes_back(column.kind) && !part.ends;
      Edge& leg =
          !empty ? canvas.line({from, {top.across, from.along}, {top.across, top.along + part.inset}}, head, part.head)
          : merging
              ? canvas.line({from, {top.across, from.along}, {top.across, bottom}, {entry.across, bottom}}, head, -1)
              : canvas.line({from, {top.across, from.along}, top}, head, -1);
      leg.kind = column.kind;
      leg.arrow = !empty;
      leg.choice = true;
      canvas.put_label(leg, column.label, {top.across, entry.along + port.clear});
      if (empty) continue;
      part.place(canvas, top);
      if (!merging) continue;
      canvas.line({{top.across, top.along + part.length}, {top.across, bottom}, {entry.across, bottom}}, part.tail, -1);
    }
  }

 private:
  struct Column {
    LaneKind kind;
    BlockPtr part;
    EdgeLabel label;
    int offset;
  };
  BlockPtr core_;
  std::vector<Column> columns_;
  int top_ = 0;
  bool merges_ = false;
  bool single_ = false;  // the core is one step, so its lanes are the other exits of it
};

}  // namespace

BlockPtr with_side_lanes(const Canvas& canvas, BlockPtr core, const Item& item) {
  for (const Lane& lane : item.lanes) {
    if (lane.kind != LaneKind::flow) return std::make_unique<SideLanesBlock>(canvas, std::move(core), item);
  }
  return core;
}

}  // namespace cairn::render
