#include "cli/render_command.h"

#include <charconv>

#include "cli/exit_code.h"
#include "cli/loaded_file.h"
#include "render/exports.h"
#include "render/layout.h"
#include "render/png.h"
#include "render/svg.h"
#include "render/text_tree.h"

namespace cairn::cli {
namespace {

enum class Format { svg, png, mermaid, dot, json, text };

std::optional<Format> format_of(std::string_view name) {
  if (name == "svg") return Format::svg;
  if (name == "png") return Format::png;
  if (name == "mmd" || name == "mermaid") return Format::mermaid;
  if (name == "dot" || name == "gv") return Format::dot;
  if (name == "json") return Format::json;
  if (name == "txt" || name == "tree") return Format::text;
  return std::nullopt;
}

struct Request {
  Format format = Format::svg;
  render::Theme theme = render::Theme::light;
  render::Direction direction = render::Direction::down;
  std::optional<int> collapse;
  int scale = 1;
};

std::optional<int> whole_number(const std::string& text, int min, int max) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || value < min || value > max) return std::nullopt;
  return value;
}

Result<Request> read_request(const Arguments& arguments) {
  const auto wrong = [](std::string what) { return Error{ErrorCode::invalid, std::move(what)}; };
  Request request;
  const std::optional<std::string> file = arguments.value("--output");
  std::string name = arguments.value("--format").value_or("");
  if (name.empty() && file) {
    const std::size_t dot = file->rfind('.');
    if (dot == std::string::npos)
      return wrong("what " + *file + " should hold is not clear: give it an ending or --format");
    name = file->substr(dot + 1);
  }
  if (!name.empty()) {
    const std::optional<Format> format = format_of(name);
    if (!format) return wrong("\"" + name + "\" is not a format; there are svg, png, mmd, dot, json and txt");
    request.format = *format;
  }
  if (const auto theme = arguments.value("--theme")) {
    if (*theme != "light" && *theme != "dark") return wrong("--theme is light or dark");
    request.theme = *theme == "dark" ? render::Theme::dark : render::Theme::light;
  }
  if (const auto direction = arguments.value("--direction")) {
    if (*direction != "tb" && *direction != "lr")
      return wrong("--direction is tb (top to bottom) or lr (left to right)");
    request.direction = *direction == "lr" ? render::Direction::right : render::Direction::down;
  }
  if (const auto depth = arguments.value("--collapse")) {
    request.collapse = whole_number(*depth, 0, 1000);
    if (!request.collapse) return wrong("--collapse takes a whole number from 0");
  }
  if (const auto scale = arguments.value("--scale")) {
    const std::optional<int> times = whole_number(*scale, 1, 4);
    if (!times) return wrong("--scale takes a whole number from 1 to 4");
    if (request.format != Format::png) return wrong("--scale is for PNG only; an SVG has every size");
    request.scale = *times;
  }
  return request;
}

Result<std::string> rendered(const Program& program, const Request& request) {
  render::Outline outline = render::outline_of(program);
  if (request.collapse) render::collapse(outline, *request.collapse);
  const render::Layout layout = render::layout_of(std::move(outline), request.direction);
  switch (request.format) {
    case Format::svg: return render::svg_text(layout, request.theme);
    case Format::png: return render::png_bytes(layout, request.theme, request.scale);
    case Format::mermaid: return render::mermaid_text(layout);
    case Format::dot: return render::dot_text(layout);
    case Format::json: return write_json(render::layout_json(layout)) + "\n";
    case Format::text: return render::text_tree(layout);
  }
  return Error{ErrorCode::internal, "no such format"};
}

}  // namespace

const CommandSpec& render_spec() {
  static const CommandSpec spec{
      "render",
      "FILE [-o OUT.svg|.png|.mmd|.dot|.json|.txt] [--theme light|dark] [--direction tb|lr] [--collapse DEPTH] "
      "[--scale N]",
      "Draw a definition as SVG, PNG, Mermaid, DOT, layout JSON or text",
      "FILE is a definition in YAML or JSON, or - for standard input. Without -o the SVG goes to standard output; with "
      "it the\n"
      "ending says what to write. The same definition gives the same bytes on every machine. docs/diagrams.md tells "
      "what\n"
      "the shapes and lines mean.\n"
      "Exit codes: 0 done, 8 the definition is not valid, 2 a wrong call or a file that cannot be read.",
      {{"--output", "OUT", "write to this file; its ending chooses the format", "-o"},
       {"--format", "svg|png|mmd|dot|json|txt", "the format, when the ending does not say it"},
       {"--theme", "light|dark", "colours of SVG and PNG; light by default"},
       {"--direction", "tb|lr", "from top to bottom, or from left to right"},
       {"--collapse", "DEPTH", "draw what is nested deeper than this as one step; 0 shows the main path only"},
       {"--scale", "N", "pixels of a PNG per unit, 1 to 4"}},
      {"cairn render loan.yaml > loan.svg", "cairn render loan.yaml -o loan.png --scale 2 --theme dark",
       "cairn render loan.yaml --format txt", "cairn render big.yaml --collapse 1 -o big.svg"}};
  return spec;
}

int run_render(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(render_spec(), args, arguments, out, err)) return *over;
  const auto wrong_call = [&](std::string_view what) {
    err << "cairn render: " << what << "\n`cairn render --help` shows examples.\n";
    return exit_usage;
  };
  if (arguments.positional().size() != 1) return wrong_call("name one definition file");
  const Result<Request> request = read_request(arguments);
  if (!request) return wrong_call(request.error().message);

  Definition definition;
  if (const int code = load_file("render", arguments.positional().front(), in, err, definition)) return code;
  const Result<std::string> picture = rendered(*definition.program, *request);
  if (!picture) {
    err << "cairn render: " << picture.error().message << "\n";
    return exit_code_of(picture.error().code);
  }
  return write_result("render", *picture, arguments.value("--output"), out, err);
}

}  // namespace cairn::cli
