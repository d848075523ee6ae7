#include <algorithm>

#include "render/icons.h"
#include "render/label.h"
#include "render/nodes.h"
#include "render/sketch.h"

namespace cairn::render {
namespace {

constexpr int line_height = 15;
constexpr int stroke = 13;

bool has_icon(Shape shape) { return shape != Shape::decision && shape != Shape::race; }

Path hexagon(const Box& box) {
  const int inset = 140;
  const int left = box.x * 10;
  const int right = (box.x + box.width) * 10;
  const int top = box.y * 10;
  const int bottom = (box.y + box.height) * 10;
  const int middle = (top + bottom) / 2;
  using enum PathStep::Op;
  return {{move, left, middle},
          {line, left + inset, top},
          {line, right - inset, top},
          {line, right, middle},
          {line, right - inset, bottom},
          {line, left + inset, bottom},
          {close}};
}

void draw_frame(Sketch& sketch, const Node& node, const ShapeColors& colors) {
  const Box& box = node.box;
  const Ink ink{colors.fill, colors.stroke, stroke};
  const Point centre{box.x + box.width / 2, box.y + box.height / 2};
  switch (node.shape) {
    case Shape::start: sketch.circle(centre, 100, ink); break;
    case Shape::end: sketch.circle(centre, 95, {colors.fill, colors.stroke, 28}); break;
    case Shape::fork:
    case Shape::join: sketch.rect(box, 4, {colors.fill, {}}); break;
    case Shape::decision: sketch.path(hexagon(box), ink); break;
    case Shape::race:
      sketch.path(hexagon(box), ink);
      sketch.path(hexagon({box.x + 4, box.y + 3, box.width - 8, box.height - 6}), {{}, colors.stroke, 8});
      break;
    case Shape::loop:
    case Shape::attempt:
    case Shape::cleanup:
    case Shape::complete:
    case Shape::fail: sketch.rect(box, box.height / 2, ink); break;
    case Shape::jump: sketch.rect(box, box.height / 2, {colors.fill, colors.stroke, stroke, 30}); break;
    case Shape::subworkflow:
    case Shape::collapsed:
      sketch.rect(box, 8, ink);
      sketch.rect(box, -30, 6, {{}, colors.stroke, 8});
      break;
    case Shape::action:
    case Shape::data:
    case Shape::task:
    case Shape::wait:
    case Shape::signal:
    case Shape::event:
    case Shape::undo: sketch.rect(box, 8, ink); break;
  }
}

void draw_texts(Sketch& sketch, const Node& node, const ShapeColors& colors) {
  const Box& box = node.box;
  const int icon_room = has_icon(node.shape) ? 24 : 0;
  const bool pill = node.box.height < step_height;
  if (has_icon(node.shape)) {
    const int y = box.y + (box.height - 16) / 2;
    sketch.path(shape_icon(node.shape, (box.x + (pill ? 8 : 10)) * 10, y * 10), {{}, colors.icon, 14});
  }
  const int middle = box.x + (box.width + icon_room) / 2;
  const int lines = static_cast<int>(node.lines.size());
  const int detail = node.detail.empty() ? 0 : 13;
  int baseline = box.y + (box.height - lines * line_height - detail) / 2 + 11;
  for (const std::string& line : node.lines) {
    sketch.text({middle, baseline}, line, step_font_px, colors.text, Anchor::middle);
    baseline += line_height;
  }
  if (detail) sketch.text({middle, baseline - 1}, node.detail, detail_font_px, colors.text, Anchor::middle);
}

bool is_cut(const Node& node) {
  std::string shown;
  for (const std::string& line : node.lines) shown += (shown.empty() ? "" : " ") + line;
  return shown != node.text;
}

std::string title_of(const Node& node, const StepProgress* status) {
  std::string title = is_cut(node) ? node.text : "";
  if (status) {
    const std::string progress = progress_text(*status);
    if (!progress.empty()) title = node.text + ": " + progress;
  }
  return title;
}

}  // namespace

void draw_node(Sketch& sketch, const Node& node, const StepProgress* status) {
  const bool muted = status && (status->progress == Progress::not_reached || status->progress == Progress::skipped);
  ShapeColors colors = muted ? sketch.colors.not_reached : colors_of(sketch.colors, node.shape);
  const bool bar = node.shape == Shape::fork || node.shape == Shape::join;
  if (bar) colors.fill = muted ? sketch.colors.not_reached.stroke : sketch.colors.bar;
  sketch.open_group(to_string(node.shape), node.step, title_of(node, status),
                    status ? to_string(status->progress) : "");
  draw_frame(sketch, node, colors);
  if (!bar && node.shape != Shape::start && node.shape != Shape::end) draw_texts(sketch, node, colors);
  if (node.target) {
    const Point mark{node.box.x + node.box.width, node.box.y + node.box.height / 2};
    sketch.circle(mark, 75, {sketch.colors.background, colors.stroke, 12});
    sketch.path(shape_icon(Shape::loop, (mark.x - 8) * 10, (mark.y - 8) * 10), {{}, colors.stroke, 12});
  }
  if (status && !bar && node.shape != Shape::start && node.shape != Shape::end) draw_status(sketch, node, *status);
  sketch.close_group();
}

void draw_status(Sketch& sketch, const Node& node, const StepProgress& status) {
  if (status.progress == Progress::not_reached) return;
  const std::string_view color = color_of(sketch.colors, status.progress);
  const Box& box = node.box;
  const bool open = status.progress == Progress::current || status.progress == Progress::waiting ||
                    status.progress == Progress::failing || status.progress == Progress::failed;
  const bool hexagonal = node.shape == Shape::decision || node.shape == Shape::race;
  if (open) {
    const Ink ring{{}, color, 22, status.progress == Progress::waiting ? 60 : 0};
    if (hexagonal) {
      sketch.path(hexagon({box.x - 5, box.y - 3, box.width + 10, box.height + 6}), ring);
    } else {
      sketch.rect(box, 35, box.height < step_height ? box.height / 2 + 3 : 11, ring);
    }
  }
  const Point sign{box.x, box.y + box.height / 2};
  sketch.circle(sign, 75, {sketch.colors.background, color, 13});
  sketch.path(progress_icon(status.progress, (sign.x - 6) * 10, (sign.y - 6) * 10), {{}, color, 14});

  const std::string badge = badge_text(status);
  if (badge.empty()) return;
  const int width = text_width(badge, detail_font_px) + 14;
  // Right of the middle, because the line enters in the middle.
  const Box pill{std::max(box.x + box.width / 2 + 10, box.x + box.width - width + 6), box.y - 10, width, 16};
  sketch.rect(pill, 8, {sketch.colors.background, color, 12});
  sketch.text({pill.x + width / 2, pill.y + 12}, badge, detail_font_px, color, Anchor::middle);
}

}  // namespace cairn::render
