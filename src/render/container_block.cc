// A box around its body with a header that names it: repeat, try, finally. The back edge of a loop stays inside.
#include <algorithm>

#include "render/block.h"

namespace cairn::render {
namespace {

constexpr int turn = 12;  // from the end of the body to where the back edge leaves

class ContainerBlock final : public Block {
 public:
  ContainerBlock(const Canvas& canvas, const Item& item) : loop_(item.shape == Shape::loop) {
    head = item.node;
    inset = container_pad;
    half_ = canvas.across(head) / 2;
    size_ = canvas.along(head);
    static const std::vector<Item> nothing;
    body_ = sequence_block(canvas, item.lanes.empty() ? nothing : item.lanes.front().items);
    if (loop_) {
      each_ = canvas.label("each");
      done_ = canvas.label("done");
    }
    // If the body never comes back, the only way on is from the header, with no round at all.
    skips_ = loop_ && body_->ends;
    gap_ = canvas.lane_gap({each_});
    left = std::max(body_->left, half_) + container_pad + (loop_ && !skips_ ? back_lane : 0);
    right = std::max({body_->right, half_, each_.across, done_.across}) + container_pad + (skips_ ? back_lane : 0);
    length = inset + size_ + gap_ + body_->length + (loop_ ? turn + done_.along + 4 : container_pad + 4);
    ends = !loop_ && body_->ends;
    tail = loop_ ? head : body_->head < 0 ? head : body_->tail;
    port = {right, inset + size_ / 2, inset + size_ / 2 + 4};
  }

  void place(Canvas& canvas, Spot entry) const override {
    const int axis = entry.across;
    const int bottom = entry.along + length;
    const int middle = entry.along + inset + size_ / 2;
    const int header_end = entry.along + inset + size_;
    const Spot top{axis, header_end + gap_};
    const int body_end = top.along + body_->length;
    const bool empty = body_->head < 0;
    canvas.put_container(head, {axis - left, entry.along}, {axis + right, bottom});
    canvas.put_node(head, {axis, middle});

    Edge& into =
        canvas.line({{axis, header_end}, {axis, empty ? body_end : top.along + body_->inset}}, head, body_->head);
    into.arrow = !empty;
    into.bypass = empty;
    canvas.put_label(into, each_, {axis, header_end});
    body_->place(canvas, top);

    if (!loop_) {
      if (!ends) canvas.line({{axis, body_end}, {axis, bottom}}, tail, -1);
      return;
    }
    const int turning = body_end + turn;
    if (skips_) {
      const int lane = axis + right - turn;
      Edge& skip = canvas.line(
          {{axis + half_, middle}, {lane, middle}, {lane, turning}, {axis, turning}, {axis, bottom}}, head, -1);
      canvas.put_label(skip, done_, {axis, turning - 1});
      return;
    }
    const int lane = axis - left + turn;
    canvas.line({{axis, body_end}, {axis, turning}}, body_->tail, -1);
    Edge& back =
        canvas.line({{axis, turning}, {lane, turning}, {lane, middle}, {axis - half_, middle}}, body_->tail, head);
    back.back = back.arrow = true;
    Edge& out = canvas.line({{axis, turning}, {axis, bottom}}, head, -1);
    canvas.put_label(out, done_, {axis, turning - 1});
  }

 private:
  BlockPtr body_;
  EdgeLabel each_;
  EdgeLabel done_;
  bool loop_;
  bool skips_ = false;
  int half_ = 0;
  int size_ = 0;
  int gap_ = 0;
};

}  // namespace

BlockPtr container_block(const Canvas& canvas, const Item& item) {
  return std::make_unique<ContainerBlock>(canvas, item);
}

}  // namespace cairn::render
