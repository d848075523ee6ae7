// The cases of a decision and the options of a race. One continues along the axis. Those written before it are on its
// left, those after it on its right, so they appear in source order. One merge line is below all of them.
#include <algorithm>

#include "render/block.h"

namespace cairn::render {
namespace {

// Selects the middle one of the cases that come back. The longest would be a bad choice: one more step in a case could
// swap two columns.
std::size_t main_case(const std::vector<BlockPtr>& cases) {
  std::vector<std::size_t> going_on;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i]->ends) going_on.push_back(i);
  }
  if (going_on.empty()) return (cases.size() - 1) / 2;
  return going_on[(going_on.size() - 1) / 2];
}

class BranchBlock final : public Block {
 public:
  BranchBlock(const Canvas& canvas, const Item& item)
      : half_(canvas.across(item.node) / 2), size_(canvas.along(item.node)) {
    head = tail = item.node;
    std::vector<EdgeLabel> labels;
    for (const Lane& lane : item.lanes) {
      if (lane.kind != LaneKind::flow) continue;
      cases_.push_back(sequence_block(canvas, lane.items));
      labels.push_back(canvas.label(lane.label));
    }
    if (cases_.empty()) {
      cases_.push_back(sequence_of(canvas, {}));
      labels.emplace_back();
    }
    main_ = main_case(cases_);
    gap_ = canvas.lane_gap(labels);
    labels_ = std::move(labels);
    offsets_.resize(cases_.size());

    right = std::max(right_of(main_), half_);
    for (std::size_t i = main_ + 1; i < cases_.size(); ++i) {
      offsets_[i] = right + canvas.spacing().across + left_of(i);
      right = offsets_[i] + right_of(i);
    }
    left = std::max(left_of(main_), half_);
    for (std::size_t i = main_; i-- > 0;) {
      offsets_[i] = -(left + canvas.spacing().across + right_of(i));
      left = -offsets_[i] + left_of(i);
    }

    ends = true;
    bool merges = false;
    int longest = 0;
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      longest = std::max(longest, cases_[i]->length);
      ends = ends && cases_[i]->ends;
      merges = merges || (i != main_ && !cases_[i]->ends);
    }
    length = size_ + gap_ + longest + (merges ? merge_gap : 0);
    port = {half_, size_ / 2, size_};
  }

  void place(Canvas& canvas, Spot entry) const override {
    const int middle = entry.along + size_ / 2;
    const int head_end = entry.along + size_;
    const int bottom = entry.along + length;
    canvas.put_node(head, {entry.across, middle});
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      const Block& part = *cases_[i];
      const Spot top{entry.across + offsets_[i], head_end + gap_};
      const bool empty = part.head < 0;
      const int leg_end = empty ? bottom : top.along + part.inset;
      const int side = entry.across + (offsets_[i] < 0 ? -half_ : half_);
      Edge& leg =
          i == main_ ? canvas.line({{entry.across, head_end}, {entry.across, leg_end}}, head, part.head)
          : empty    ? canvas.line({{side, middle}, {top.across, middle}, {top.across, bottom}, {entry.across, bottom}},
                                   head, -1)
                     : canvas.line({{side, middle}, {top.across, middle}, {top.across, leg_end}}, head, part.head);
      leg.arrow = !empty;
      leg.choice = !empty;
      leg.bypass = empty;
      canvas.put_label(leg, labels_[i], {top.across, head_end});
      if (empty) continue;
      part.place(canvas, top);
      if (part.ends) continue;
      const int part_end = top.along + part.length;
      if (i != main_) {
        canvas.line({{top.across, part_end}, {top.across, bottom}, {entry.across, bottom}}, part.tail, -1);
      } else if (part_end < bottom) {
        canvas.line({{entry.across, part_end}, {entry.across, bottom}}, part.tail, -1);
      }
    }
  }

 private:
  int left_of(std::size_t i) const { return std::max(cases_[i]->left, empty_half); }
  int right_of(std::size_t i) const { return std::max({cases_[i]->right, labels_[i].across, empty_half}); }

  std::vector<BlockPtr> cases_;
  std::vector<EdgeLabel> labels_;
  std::vector<int> offsets_;
  std::size_t main_ = 0;
  int half_;
  int size_;
  int gap_ = 0;
};

}  // namespace

BlockPtr branch_block(const Canvas& canvas, const Item& item) { return std::make_unique<BranchBlock>(canvas, item); }

}  // namespace cairn::render
