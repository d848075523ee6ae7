// Branches that run at the same time, in source order, between two bars as wide as their axes.
#include <algorithm>

#include "render/block.h"

namespace cairn::render {
namespace {

constexpr int overhang = 30;  // the part of a bar beyond the outer axes

class ForkBlock final : public Block {
 public:
  ForkBlock(const Canvas& canvas, const Item& item) : join_(item.join_node) {
    head = item.node;
    bar_ = canvas.along(item.node);
    std::vector<EdgeLabel> labels;
    int at = 0;
    int longest = 0;
    ends = true;
    for (const Lane& lane : item.lanes) {
      if (lane.kind != LaneKind::flow) continue;
      labels.push_back(canvas.label(lane.label));
      Branch branch{sequence_block(canvas, lane.items), labels.back(), 0};
      if (!branches_.empty()) at += canvas.spacing().across;
      branch.offset = at + branch.part->left;
      at = branch.offset + std::max(branch.part->right, branch.label.across);
      longest = std::max(longest, branch.part->length);
      ends = ends && branch.part->ends;
      branches_.push_back(std::move(branch));
    }
    if (branches_.empty()) ends = false;
    int middle = branches_.empty() ? 0 : (branches_.front().offset + branches_.back().offset) / 2;
    middle -= middle & 1;
    for (Branch& branch : branches_) branch.offset -= middle;
    const int reach = branches_.empty() ? 0 : std::max(-branches_.front().offset, branches_.back().offset);
    half_ = reach + overhang;
    joined_ = canvas.label(item.joined);
    step_gap_ = std::max(canvas.spacing().along, joined_.along);
    left = std::max(middle, half_);
    right = std::max(at - middle, half_ + joined_.across);
    gap_ = canvas.lane_gap(labels);
    length = bar_ + gap_ + longest + (ends ? 0 : step_gap_ + bar_);
    tail = join_;
    port = {half_, bar_ / 2, bar_};
  }

  void place(Canvas& canvas, Spot entry) const override {
    const int join_at = entry.along + length - bar_;
    canvas.stretch_across(head, 2 * half_);
    canvas.put_node(head, {entry.across, entry.along + bar_ / 2});
    if (!ends && join_ >= 0) {
      canvas.stretch_across(join_, 2 * half_);
      canvas.put_node(join_, {entry.across, join_at + bar_ / 2});
    }
    bool labelled = false;
    for (const Branch& branch : branches_) {
      const Block& part = *branch.part;
      const Spot top{entry.across + branch.offset, entry.along + bar_ + gap_};
      const bool empty = part.head < 0;
      const Spot leg{top.across, entry.along + bar_};
      Edge& down = empty ? canvas.line({leg, {top.across, join_at}}, head, join_)
                         : canvas.line({leg, {top.across, top.along + part.inset}}, head, part.head);
      down.arrow = true;
      canvas.put_label(down, branch.label, leg);
      if (empty) continue;
      part.place(canvas, top);
      if (part.ends) continue;
      Edge& up = canvas.line({{top.across, top.along + part.length}, {top.across, join_at}}, part.tail, join_);
      up.arrow = true;
      if (!labelled) canvas.put_bar_label(up, joined_, {entry.across + half_, join_at + bar_ / 2});
      labelled = true;
    }
  }

 private:
  struct Branch {
    BlockPtr part;
    EdgeLabel label;
    int offset;
  };
  std::vector<Branch> branches_;
  EdgeLabel joined_;
  int join_;
  int bar_ = 0;
  int half_ = 0;
  int gap_ = 0;
  int step_gap_ = 0;
};

}  // namespace

BlockPtr fork_block(const Canvas& canvas, const Item& item) { return std::make_unique<ForkBlock>(canvas, item); }

}  // namespace cairn::render
