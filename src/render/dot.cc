#include "render/exports.h"

namespace cairn::render {
namespace {

std::string dot_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

const char* attributes(Shape shape) {
  switch (shape) {
    case Shape::start:
    case Shape::end: return "shape=circle label=\"\" width=0.25";
    case Shape::fork:
    case Shape::join: return "shape=box height=0.08 width=2 style=filled fillcolor=black";
    case Shape::decision:
    case Shape::race: return "shape=hexagon";
    case Shape::subworkflow:
    case Shape::collapsed: return "shape=box peripheries=2";
    case Shape::loop:
    case Shape::attempt:
    case Shape::cleanup:
    case Shape::complete:
    case Shape::fail: return "shape=box style=rounded";
    case Shape::jump: return "shape=box style=\"rounded,dashed\"";
    case Shape::wait:
    case Shape::signal: return "shape=cds";
    case Shape::task:
    case Shape::action:
    case Shape::data:
    case Shape::event:
    case Shape::undo: return "shape=box";
  }
  return "shape=box";
}

}  // namespace

std::string dot_text(const Layout& layout) {
  std::string out = "digraph " + dot_quoted(layout.name) + " {\n";
  out += layout.direction == Direction::down ? "  rankdir=TB\n" : "  rankdir=LR\n";
  out += "  node [fontname=\"sans-serif\" fontsize=11]\n  edge [fontname=\"sans-serif\" fontsize=10]\n";
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const Node& node = layout.nodes[i];
    out += "  n" + std::to_string(i) + " [" + attributes(node.shape);
    if (node.shape == Shape::fork || node.shape == Shape::join) {
      out += " label=\"\" xlabel=" + dot_quoted(node.text);
    } else if (node.shape != Shape::start && node.shape != Shape::end) {
      out += " label=" + dot_quoted(node.text);
    }
    out += "]\n";
  }
  for (const Link& link : layout.links) {
    out += "  n" + std::to_string(link.from) + " -> n" + std::to_string(link.to);
    std::string attributes;
    if (!link.label.empty()) attributes += " label=" + dot_quoted(link.label);
    if (link.kind != LaneKind::flow) attributes += " style=dashed";
    if (link.back) attributes += " constraint=false";
    if (!attributes.empty()) out += " [" + attributes.substr(1) + "]";
    out += "\n";
  }
  return out + "}\n";
}

}  // namespace cairn::render
