#include "render/drawing.h"

#include <charconv>

#include "render/exports.h"
#include "render/svg.h"
#include "render/text_tree.h"

namespace cairn::render {
namespace {

std::optional<int> whole_number(const std::string& text, int min, int max) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < min || value > max) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Format> format_from(std::string_view name) {
  if (name == "svg") return Format::svg;
  if (name == "png") return Format::png;
  if (name == "mmd" || name == "mermaid") return Format::mermaid;
  if (name == "dot" || name == "gv") return Format::dot;
  if (name == "json") return Format::json;
  if (name == "txt" || name == "tree") return Format::text;
  return std::nullopt;
}

const char* to_string(Format format) {
  switch (format) {
    case Format::svg: return "svg";
    case Format::png: return "png";
    case Format::mermaid: return "mermaid";
    case Format::dot: return "dot";
    case Format::json: return "json";
    case Format::text: return "txt";
  }
  return "svg";
}

const char* media_type(Format format) {
  switch (format) {
    case Format::svg: return "image/svg+xml";
    case Format::png: return "image/png";
    case Format::json: return "application/json";
    case Format::dot: return "text/vnd.graphviz; charset=utf-8";
    case Format::mermaid:
    case Format::text: break;
  }
  return "text/plain; charset=utf-8";
}

std::string Drawing::key() const {
  std::string key = std::to_string(layout_version) + "-" + std::to_string(static_cast<int>(format));
  if (theme == Theme::dark) key += "-dark";
  if (theme == Theme::tokens) key += "-tokens";
  if (direction == Direction::right) key += "-lr";
  if (collapse) key += "-c" + std::to_string(*collapse);
  if (scale != 1) key += "-x" + std::to_string(scale);
  return key;
}

Result<Drawing> read_drawing(const std::function<std::optional<std::string>(const char*)>& option,
                             std::string_view prefix) {
  const auto wrong = [prefix](const std::string& what) {
    return Error{ErrorCode::invalid, std::string(prefix) + what};
  };
  Drawing drawing;
  if (const auto name = option("format")) {
    const std::optional<Format> format = format_from(*name);
    if (!format)
      return Error{ErrorCode::invalid, "\"" + *name + "\" is not a format; there are svg, png, mmd, dot, json and txt"};
    drawing.format = *format;
  }
  if (const auto theme = option("theme")) {
    if (*theme != "light" && *theme != "dark" && *theme != "tokens") return wrong("theme is light, dark or tokens");
    drawing.theme = *theme == "dark" ? Theme::dark : *theme == "tokens" ? Theme::tokens : Theme::light;
    if (drawing.theme == Theme::tokens && drawing.format != Format::svg) return wrong("theme tokens is for SVG only");
  }
  if (const auto direction = option("direction")) {
    if (*direction != "tb" && *direction != "lr") return wrong("direction is tb (top to bottom) or lr (left to right)");
    drawing.direction = *direction == "lr" ? Direction::right : Direction::down;
  }
  if (const auto depth = option("collapse")) {
    drawing.collapse = whole_number(*depth, 0, 1000);
    if (!drawing.collapse) return wrong("collapse takes a whole number from 0");
  }
  if (const auto scale = option("scale")) {
    const std::optional<int> times = whole_number(*scale, 1, 4);
    if (!times) return wrong("scale takes a whole number from 1 to 4");
    if (drawing.format != Format::png) return wrong("scale is for PNG only; an SVG has every size");
    drawing.scale = *times;
  }
  return drawing;
}

Result<std::string> draw(const Program& program, const Drawing& drawing, const Overlay* overlay) {
  Outline outline = outline_of(program);
  if (drawing.collapse) collapse(outline, *drawing.collapse);
  const Layout layout = layout_of(std::move(outline), drawing.direction);
  switch (drawing.format) {
    case Format::svg: return svg_text(layout, drawing.theme, overlay);
    case Format::png: return png_bytes(layout, drawing.theme, drawing.scale, overlay, drawing.pixels_max);
    case Format::mermaid: return mermaid_text(layout);
    case Format::dot: return dot_text(layout);
    case Format::json: return write_json(layout_json(layout)) + "\n";
    case Format::text: return text_tree(layout, overlay);
  }
  return Error{ErrorCode::internal, "no such format"};
}

}  // namespace cairn::render
