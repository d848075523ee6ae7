#include "render/svg.h"

#include "render/text_tree.h"

namespace cairn::render {
namespace {

class SvgText {
 public:
  std::string run(const Layout& layout, const Picture& picture, const Overlay* overlay) {
    out_.reserve(picture.marks.size() * 110 + 2000);
    const std::string width = std::to_string(picture.width);
    const std::string height = std::to_string(picture.height);
    out_ += "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
            "\" viewBox=\"0 0 " + width + " " + height +
            "\" role=\"img\" font-family=\"Inter, 'DejaVu Sans', Verdana, sans-serif\">\n<title>";
    escape(layout.title);
    out_ += "</title>\n<desc>";
    escape(text_tree(layout, overlay));
    out_ += "</desc>\n";
    for (const Mark& mark : picture.marks) write(mark);
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  void escape(std::string_view text) {
    for (const char c : text) {
      switch (c) {
        case '<': out_ += "&lt;"; break;
        case '>': out_ += "&gt;"; break;
        case '&': out_ += "&amp;"; break;
        case '"': out_ += "&quot;"; break;
        default: out_ += c;
      }
    }
  }

  void number(int tenths) {
    if (tenths < 0) {
      out_ += '-';
      tenths = -tenths;
    }
    out_ += std::to_string(tenths / 10);
    if (tenths % 10 != 0) {
      out_ += '.';
      out_ += static_cast<char>('0' + tenths % 10);
    }
  }

  void attribute(const char* name, int tenths) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    number(tenths);
    out_ += '"';
  }

  void attribute(const char* name, std::string_view text) {
    out_ += ' ';
    out_ += name;
    out_ += "=\"";
    escape(text);
    out_ += '"';
  }

  void ink(const Ink& ink) {
    attribute("fill", ink.fill.empty() ? "none" : ink.fill);
    if (ink.stroke.empty()) return;
    attribute("stroke", ink.stroke);
    attribute("stroke-width", ink.width);
    if (ink.dash > 0) attribute("stroke-dasharray", ink.dash);
  }

  void path_data(const Path& path) {
    out_ += " d=\"";
    for (const PathStep& step : path) {
      out_ += static_cast<char>(step.op);
      if (step.op == PathStep::Op::close) continue;
      if (step.op == PathStep::Op::curve) {
        number(step.control_x);
        out_ += ' ';
        number(step.control_y);
        out_ += ' ';
      }
      number(step.x);
      out_ += ' ';
      number(step.y);
    }
    out_ += '"';
  }

  void write(const Mark& mark) {
    switch (mark.kind) {
      case Mark::Kind::group:
        out_ += "<g";
        if (!mark.step.empty()) attribute("data-step", mark.step);
        attribute("data-shape", std::string_view(mark.role));
        if (*mark.state) attribute("data-state", std::string_view(mark.state));
        out_ += ">";
        if (!mark.text.empty()) {
          out_ += "<title>";
          escape(mark.text);
          out_ += "</title>";
        }
        out_ += '\n';
        return;
      case Mark::Kind::group_end: out_ += "</g>\n"; return;
      case Mark::Kind::rect:
        out_ += "<rect";
        attribute("x", mark.x);
        attribute("y", mark.y);
        attribute("width", mark.width);
        attribute("height", mark.height);
        if (mark.radius > 0) attribute("rx", mark.radius);
        break;
      case Mark::Kind::circle:
        out_ += "<circle";
        attribute("cx", mark.x);
        attribute("cy", mark.y);
        attribute("r", mark.radius);
        break;
      case Mark::Kind::path:
        out_ += "<path";
        path_data(mark.path);
        if (!mark.ink.stroke.empty()) out_ += " stroke-linejoin=\"round\"";
        break;
      case Mark::Kind::text:
        out_ += "<text";
        attribute("x", mark.x);
        attribute("y", mark.y);
        attribute("font-size", mark.font_px * 10);
        if (mark.bold) out_ += " font-weight=\"600\"";
        if (mark.anchor == Anchor::middle) out_ += " text-anchor=\"middle\"";
        attribute("fill", mark.ink.fill);
        out_ += '>';
        escape(mark.text);
        out_ += "</text>\n";
        return;
    }
    ink(mark.ink);
    out_ += "/>\n";
  }

  std::string out_;
};

}  // namespace

std::string svg_text(const Layout& layout, Theme theme, const Overlay* overlay) {
  return SvgText().run(layout, draw(layout, theme, overlay), overlay);
}

}  // namespace cairn::render
