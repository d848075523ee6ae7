#include "render/exports.h"

namespace cairn::render {
namespace {

// Inside quotes Mermaid reads HTML entities in its own form, #35; and so on.
std::string mermaid_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': out += "#quot;"; break;
      case '#': out += "#35;"; break;
      case '&': out += "#amp;"; break;
      case '<': out += "#lt;"; break;
      case '>': out += "#gt;"; break;
      case '`': out += "#96;"; break;
      case '\\': out += "#92;"; break;
      default: out += c;
    }
  }
  return out + "\"";
}

struct Brackets {
  const char* open;
  const char* close;
};

Brackets brackets(Shape shape) {
  switch (shape) {
    case Shape::start:
    case Shape::end: return {"((", "))"};
    case Shape::decision:
    case Shape::race: return {"{{", "}}"};
    case Shape::fork:
    case Shape::join: return {"[/", "/]"};
    case Shape::subworkflow:
    case Shape::collapsed: return {"[[", "]]"};
    case Shape::loop:
    case Shape::attempt:
    case Shape::cleanup:
    case Shape::complete:
    case Shape::fail:
    case Shape::jump: return {"([", "])"};
    case Shape::task: return {"(", ")"};
    case Shape::wait:
    case Shape::signal: return {">", "]"};
    case Shape::action:
    case Shape::data:
    case Shape::event:
    case Shape::undo: return {"[", "]"};
  }
  return {"[", "]"};
}

std::string node_text(const Node& node) {
  switch (node.shape) {
    case Shape::start: return "start";
    case Shape::end: return "end";
    case Shape::join: return node.text.empty() ? "join" : node.text;
    case Shape::jump: return "↩ " + node.text;
    case Shape::fail: return "✗ " + node.text;
    default: return node.text.empty() ? " " : node.text;
  }
}

}  // namespace

std::string mermaid_text(const Layout& layout) {
  std::string out = layout.direction == Direction::down ? "flowchart TD\n" : "flowchart LR\n";
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    const Brackets shape = brackets(layout.nodes[i].shape);
    out += "  n" + std::to_string(i) + shape.open + mermaid_quoted(node_text(layout.nodes[i])) + shape.close + "\n";
  }
  for (const Link& link : layout.links) {
    const char* arrow = link.kind == LaneKind::flow ? " -->" : " -.->";
    out += "  n" + std::to_string(link.from) + arrow;
    if (!link.label.empty()) out += "|" + mermaid_quoted(link.label) + "|";
    out += " n" + std::to_string(link.to) + "\n";
  }
  return out;
}

}  // namespace cairn::render
