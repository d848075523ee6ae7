#include "render/sketch.h"

#include "render/label.h"
#include "render/nodes.h"

namespace cairn::render {

Mark& Sketch::add(Mark::Kind kind, Ink ink) {
  Mark& mark = picture_.marks.emplace_back();
  mark.kind = kind;
  mark.ink = ink;
  return mark;
}

void Sketch::open_group(const char* role, const std::string& step, std::string title, const char* state) {
  Mark& mark = add(Mark::Kind::group, {});
  mark.role = role;
  mark.step = step;
  mark.text = std::move(title);
  mark.state = state;
}

void Sketch::close_group() { add(Mark::Kind::group_end, {}); }

void Sketch::rect(Box box, int radius, Ink ink) { rect(box, 0, radius, ink); }

void Sketch::rect(Box box, int grown_tenths, int radius, Ink ink) {
  Mark& mark = add(Mark::Kind::rect, ink);
  mark.x = box.x * 10 - grown_tenths;
  mark.y = box.y * 10 - grown_tenths;
  mark.width = box.width * 10 + 2 * grown_tenths;
  mark.height = box.height * 10 + 2 * grown_tenths;
  mark.radius = radius * 10;
}

void Sketch::circle(Point centre, int radius_tenths, Ink ink) {
  Mark& mark = add(Mark::Kind::circle, ink);
  mark.x = centre.x * 10;
  mark.y = centre.y * 10;
  mark.radius = radius_tenths;
}

void Sketch::path(Path path, Ink ink) {
  if (!path.empty()) add(Mark::Kind::path, ink).path = std::move(path);
}

void Sketch::text(Point baseline, std::string text, int font_px, std::string_view color, Anchor anchor, bool bold) {
  Mark& mark = add(Mark::Kind::text, {color, {}});
  mark.x = baseline.x * 10;
  mark.y = baseline.y * 10;
  mark.text = std::move(text);
  mark.font_px = font_px;
  mark.anchor = anchor;
  mark.bold = bold;
}

namespace {

// The progress of each node. The start is done once an instance exists; the lower bar of a fork is done when the fork
// is.
std::vector<StepProgress> status_of_nodes(const Layout& layout, const Overlay& overlay) {
  std::vector<StepProgress> status(layout.nodes.size());
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const Node& node = layout.nodes[i];
    const StepProgress step = overlay.of(node.step, node.part);
    if (node.shape == Shape::start || (node.shape == Shape::end && overlay.ended)) {
      status[i].progress = Progress::done;
    } else if (node.shape == Shape::join) {
      if (step.progress == Progress::done) status[i].progress = Progress::done;
    } else if (node.shape != Shape::end) {
      status[i] = step;
    }
  }
  return status;
}

std::string instance_line(const Overlay& overlay, int width) {
  std::string text = plain_text(overlay.instance);
  if (!overlay.status.empty()) text += (text.empty() ? "" : " — ") + plain_text(overlay.status);
  const std::vector<std::string> lines = wrap_text(text, label_font_px, width, 1);
  return lines.empty() ? "" : lines.front();
}

}  // namespace

Picture draw(const Layout& layout, Theme theme, const Overlay* overlay) {
  Picture picture;
  picture.width = layout.width;
  picture.height = layout.height;
  picture.marks.reserve(layout.nodes.size() * 8 + layout.edges.size() * 3 + 8);
  const ThemeColors& colors = colors_of(theme);
  Sketch sketch(picture, colors);
  sketch.rect({0, 0, layout.width, layout.height}, 0, {colors.background, {}});
  sketch.text({24, 32}, layout.heading, 15, colors.title, Anchor::start, true);
  std::vector<StepProgress> status;
  if (overlay) {
    status = status_of_nodes(layout, *overlay);
    sketch.text({24, 48}, instance_line(*overlay, layout.width - 48), label_font_px, colors.edge_label, Anchor::start);
  }
  for (const Container& container : layout.containers) {
    sketch.rect(container.box, 10, {colors.container_fill, colors.container_stroke, 10, 40});
  }
  draw_edges(sketch, layout, status);
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    draw_node(sketch, layout.nodes[i], overlay ? &status[i] : nullptr);
  }
  return picture;
}

}  // namespace cairn::render
