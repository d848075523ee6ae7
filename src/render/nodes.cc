#include "render/nodes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "render/label.h"

namespace cairn::render {
namespace {

constexpr int icon_room = 34;
constexpr int text_pad = 10;
constexpr int hexagon_inset = 20;
constexpr int circle = 22;
constexpr int bar_thickness = 8;

// Wraps the text into the part of `width_max` that `taken` leaves. The node is as wide as needed, at least `width_min`.
void fit(Node& node, int height, int taken, int width_min, std::size_t lines_max) {
  node.lines = wrap_text(node.text, step_font_px, step_width - taken, lines_max);
  int widest = 0;
  for (const std::string& line : node.lines) widest = std::max(widest, text_width(line, step_font_px));
  node.box.width = std::clamp(even(widest + taken), width_min, step_width);
  node.box.height = height;
}

void size_node(Node& node) {
  switch (node.shape) {
    case Shape::start:
    case Shape::end: node.box.width = node.box.height = circle; return;
    case Shape::fork:
    case Shape::join: node.box.width = node.box.height = bar_thickness; return;  // the layout stretches it
    case Shape::decision:
    case Shape::race: fit(node, step_height, 2 * hexagon_inset, 96, 2); return;
    case Shape::loop:
    case Shape::attempt:
    case Shape::cleanup:
      fit(node, 28, icon_room + text_pad, 96, 2);
      if (node.lines.size() > 1) node.box.height = step_height;
      return;
    case Shape::complete:
    case Shape::fail: fit(node, 28, icon_room + text_pad, 80, 1); return;
    case Shape::jump: fit(node, 24, icon_room, 60, 1); return;
    case Shape::action:
    case Shape::data:
    case Shape::task:
    case Shape::wait:
    case Shape::signal:
    case Shape::subworkflow:
    case Shape::event:
    case Shape::undo:
    case Shape::collapsed:
      fit(node, node.detail.empty() ? step_height : step_height_detailed, icon_room + text_pad, step_width, 2);
      return;
  }
}

class Numbering {
 public:
  std::vector<Node> run(Outline& outline) {
    collect_labels(outline.items);
    Item start;
    start.shape = Shape::start;
    add(start);
    walk(outline.items);
    if (!always_ends(outline.items)) {
      Item end;
      end.shape = Shape::end;
      add(end);
    }
    for (Node& node : nodes_) node.target = !node.step.empty() && targets_.contains(node.step);
    return std::move(nodes_);
  }

 private:
  void collect_labels(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (item.shape == Shape::jump) {
        targets_.insert(item.target);
      } else {
        labels_.emplace(item.step, &item);
      }
      for (const Lane& lane : item.lanes) collect_labels(lane.items);
    }
  }

  int add(const Item& item) {
    Node node;
    node.shape = item.shape;
    node.step = item.step;
    node.part = item.part;
    node.text = item.label;
    if (item.shape == Shape::jump) {
      const auto found = labels_.find(item.target);
      node.text = found == labels_.end() ? plain_text(item.target) : found->second->label;
    }
    if (!item.detail.empty()) {
      std::vector<std::string> lines = wrap_text(item.detail, detail_font_px, step_width - icon_room - text_pad, 1);
      if (!lines.empty()) node.detail = std::move(lines.front());
      node.text += " (" + item.detail + ")";
    }
    size_node(node);
    if (!item.detail.empty()) node.lines = wrap_text(item.label, step_font_px, step_width - icon_room - text_pad, 2);
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }

  void walk(std::vector<Item>& items) {
    for (Item& item : items) {
      item.node = add(item);
      for (Lane& lane : item.lanes) walk(lane.items);
      if (item.shape == Shape::fork && !always_ends(item)) {
        Item join;
        join.shape = Shape::join;
        join.step = item.step;
        join.label = item.joined;
        item.join_node = add(join);
      }
    }
  }

  std::vector<Node> nodes_;
  std::unordered_map<std::string, const Item*> labels_;
  std::unordered_set<std::string> targets_;
};

}  // namespace

std::vector<Node> nodes_of(Outline& outline) { return Numbering().run(outline); }

}  // namespace cairn::render
