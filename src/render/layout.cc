#include "render/layout.h"

#include <algorithm>

#include "render/block.h"
#include "render/label.h"
#include "render/links.h"
#include "render/nodes.h"

namespace cairn::render {
namespace {

constexpr int margin = 24;
constexpr int title_room = 40;
constexpr int title_font_px = 15;
constexpr int title_width_max = 560;  // bold text is an eighth wider than the table tells

void shift(Layout& layout, int dx, int dy) {
  const auto move = [&](auto& at) {
    at.x += dx;
    at.y += dy;
  };
  for (Node& node : layout.nodes) move(node.box);
  for (Container& container : layout.containers) move(container.box);
  for (Edge& edge : layout.edges) {
    for (Point& point : edge.points) move(point);
    if (!edge.label.text.empty()) move(edge.label.box);
  }
}

}  // namespace

Layout layout_of(Outline outline, Direction direction) {
  Layout layout;
  layout.name = outline.name;
  layout.version = outline.version;
  layout.title = outline.title;
  for (std::string& line : wrap_text(outline.title, title_font_px, title_width_max, 1))
    layout.heading = std::move(line);
  layout.digest = outline.digest;
  layout.direction = direction;
  layout.nodes = nodes_of(outline);
  const bool has_end = layout.nodes.back().shape == Shape::end;
  const int end = has_end ? static_cast<int>(layout.nodes.size()) - 1 : -1;
  layout.links = links_of(outline, 0, end);
  layout.rows = rows_of(outline);

  Canvas canvas(layout);
  std::vector<BlockPtr> parts;
  parts.push_back(node_block(canvas, 0, false));
  if (!outline.items.empty()) parts.push_back(sequence_block(canvas, outline.items));
  if (has_end) parts.push_back(node_block(canvas, end, true));
  const BlockPtr root = sequence_of(canvas, std::move(parts));
  root->place(canvas, {0, 0});

  const bool down = direction == Direction::down;
  shift(layout, margin + (down ? root->left : 0), margin + title_room + (down ? 0 : root->left));
  layout.width = 2 * margin + std::max(down ? root->left + root->right : root->length,
                                       text_width(layout.heading, title_font_px) * 9 / 8);
  layout.height = 2 * margin + title_room + (down ? root->length : root->left + root->right);
  return layout;
}

}  // namespace cairn::render
