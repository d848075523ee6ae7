#include "render/text_tree.h"

#include <algorithm>

#include "base/utf8.h"

namespace cairn::render {
namespace {

const char* shape_sign(Shape shape) {
  switch (shape) {
    case Shape::start:
    case Shape::end: return "○";
    case Shape::task: return "☺";
    case Shape::wait: return "◷";
    case Shape::signal: return "✉";
    case Shape::subworkflow: return "▣";
    case Shape::event: return "➚";
    case Shape::undo: return "↺";
    case Shape::decision: return "◆";
    case Shape::race: return "◇";
    case Shape::fork:
    case Shape::join: return "═";
    case Shape::loop: return "↻";
    case Shape::attempt:
    case Shape::cleanup: return "▽";
    case Shape::complete: return "■";
    case Shape::fail: return "✗";
    case Shape::jump: return "↩";
    case Shape::collapsed: return "⊞";
    case Shape::data: return "=";
    case Shape::action: return "▸";
  }
  return "▸";
}

const char* lane_sign(LaneKind kind) {
  switch (kind) {
    case LaneKind::flow: return "→";
    case LaneKind::failure: return "⚡";
    case LaneKind::timeout:
    case LaneKind::beside: return "◷";
    case LaneKind::compensation: return "↺";
  }
  return "→";
}

constexpr std::size_t text_max = 72;  // code points of one step, so that a line fits a terminal

std::string cut(const std::string& text) {
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size(); ++count) {
    if (count == text_max) return text.substr(0, at) + "…";
    at += code_point_at(text, at).size;
  }
  return text;
}

}  // namespace

std::string text_tree(const Layout& layout, const Overlay* overlay) {
  struct Line {
    std::string text;
    std::string status;
  };
  std::vector<Line> lines;
  std::size_t widest = 0;
  for (const Row& row : layout.rows) {
    Line line;
    StepProgress status;
    if (overlay && row.node >= 0) {
      const Node& node = layout.nodes[static_cast<std::size_t>(row.node)];
      status = overlay->of(node.step, node.part);
    }
    if (overlay) line.text = std::string(row.node >= 0 ? progress_sign(status.progress) : " ") + " ";
    line.text.append(static_cast<std::size_t>(row.depth) * 2, ' ');
    if (row.node < 0) {
      line.text += std::string(lane_sign(row.kind)) + " " + cut(row.lane);
    } else {
      const Node& node = layout.nodes[static_cast<std::size_t>(row.node)];
      line.text += std::string(shape_sign(node.shape)) + " " + cut(node.text);
      line.status = progress_text(status);
    }
    if (!line.status.empty()) widest = std::max(widest, count_code_points(line.text));
    lines.push_back(std::move(line));
  }
  std::string out;
  for (const Line& line : lines) {
    out += line.text;
    if (!line.status.empty()) out.append(widest + 2 - count_code_points(line.text), ' ').append(line.status);
    out += '\n';
  }
  return out;
}

}  // namespace cairn::render
