// Any texts in a picture, one a line: the SVG is well-formed, and no text becomes an element or an attribute.
#include "render/svg.h"

#include <algorithm>

#include "input.h"
#include "render/label.h"

namespace {

// The elements of a well-formed text, in their order.
std::vector<std::string> elements(std::string_view svg) {
  std::vector<std::string> names;
  std::vector<std::string> open;
  while (!svg.empty()) {
    const std::size_t begin = svg.find('<');
    const std::string_view text = svg.substr(0, begin);
    CAIRN_ASSERT(text.find('>') == std::string_view::npos);
    if (begin == std::string_view::npos) break;
    bool quoted = false;
    std::size_t end = begin + 1;
    for (; end < svg.size() && (quoted || svg[end] != '>'); ++end) {
      if (svg[end] == '"') quoted = !quoted;
      CAIRN_ASSERT(svg[end] != '<');
    }
    CAIRN_ASSERT(end < svg.size());
    const std::string_view tag = svg.substr(begin + 1, end - begin - 1);
    const std::string name(tag.substr(0, tag.find_first_of(" /", 1)));
    if (tag.starts_with('/')) {
      CAIRN_ASSERT(!open.empty() && "/" + open.back() == name);
      open.pop_back();
    } else {
      names.push_back(name);
      if (!tag.ends_with('/')) open.push_back(name);
    }
    svg.remove_prefix(end + 1);
  }
  CAIRN_ASSERT(open.empty());
  return names;
}

cairn::render::Layout picture(const std::string& title, const std::string& text, const std::string& step) {
  cairn::render::Layout layout;
  layout.title = layout.heading = cairn::render::plain_text(title);
  layout.width = layout.height = 200;
  cairn::render::Node node;
  node.step = cairn::render::plain_text(step);
  node.text = cairn::render::plain_text(text);
  node.lines = {node.text};
  node.box = {10, 10, 80, 30};
  layout.nodes.push_back(node);
  layout.rows.push_back({0, 0, {}, {}});
  return layout;
}

}  // namespace

void fuzz(std::string_view input) {
  const std::string title(cairn::fuzzing::take_line(input));
  const std::string text(cairn::fuzzing::take_line(input));
  static const std::vector<std::string> plain = elements(cairn::render::svg_text(picture("t", "x", "s")));
  const auto layout = picture("t" + title, "x" + text, "s" + std::string(input));
  CAIRN_ASSERT(elements(cairn::render::svg_text(layout)) == plain);
}
