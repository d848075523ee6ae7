#include "cli/commands.h"

#include <cstdlib>
#include <filesystem>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/loaded_file.h"
#include "cli/store_session.h"
#include "render/drawing.h"

namespace cairn::cli {
namespace {

Result<render::Drawing> read_request(const Arguments& arguments) {
  const std::optional<std::string> file = arguments.value("--output");
  std::optional<std::string> format = arguments.value("--format");
  if (!format && file && *file != "-") {
    const std::size_t dot = file->rfind('.');
    if (dot == std::string::npos)
      return Error{ErrorCode::invalid,
                   "the format of " + *file + " is unknown: use a known file extension or --format"};
    format = file->substr(dot + 1);
  }
  return render::read_drawing(
      [&](std::string_view name) { return name == "format" ? format : arguments.value("--" + std::string(name)); },
      "--");
}

bool names_a_place(const Arguments& arguments) {
  return arguments.value("--server") || arguments.value("--store") || std::getenv("CAIRN_SERVER") ||
         std::getenv("CAIRN_STORE");
}

// A name that is not a file is an instance or a definition of the server or store.
int draw_stored(const Arguments& arguments, const std::string& name, const render::Drawing& drawing, std::ostream& out,
                std::ostream& err) {
  auto opened = ApiSession::open("render", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  ApiRequest request{"GET", "/v1/instances/" + path_part(name) + "/diagram"};
  request.query.emplace_back("format", render::to_string(drawing.format));
  for (const char* option : {"theme", "direction", "collapse", "scale"}) {
    if (const auto value = arguments.value("--" + std::string(option))) request.query.emplace_back(option, *value);
  }
  auto answer = api.call(request);
  if (answer && answer->status == 404) {
    request.path = "/v1/definitions/" + path_part(name);
    if (const auto version = arguments.value("--version")) request.path += "/" + path_part(*version);
    request.path += "/diagram";
    answer = api.call(request);
  }
  if (!answer) return fail("render", answer.error(), err);
  if (answer->status == 404)
    return fail("render", {ErrorCode::not_found, "no file, definition or instance " + name}, err);
  if (!answer->ok()) return refuse("render", *answer, err);
  return write_result("render", answer->text, arguments.value("--output"), out, err);
}

}  // namespace

const CommandSpec& render_spec() {
  static const CommandSpec spec{
      "render",
      "FILE|NAME|ID [-o OUT.svg|.png|.mmd|.dot|.json|.txt] [--theme light|dark|tokens] [--direction tb|lr] [--collapse "
      "DEPTH] [--scale N] [--version V]",
      "Draw a definition, or an instance with its progress, as SVG, PNG, Mermaid, DOT, layout JSON or text",
      "FILE is a definition in YAML or JSON, or - for standard input. Otherwise give the NAME of a definition or\n"
      "the ID of an instance in the store or on the server. Without -o the SVG is printed on standard output; with\n"
      "-o the file extension selects the format. The same definition gives the same bytes on every machine.\n"
      "docs/diagrams.md explains the shapes and lines.\n"
      "Exit codes: 0 done, 3 not found, 8 invalid definition, 2 usage error or unreadable file.",
      with_api_flags(
          {{"--output", "OUT", "write to this file; its extension selects the format", "-o"},
           {"--format", "svg|png|mmd|dot|json|txt", "the format, if the extension does not tell it"},
           {"--theme", "light|dark|tokens", "colours of SVG and PNG (default light); tokens: CSS properties"},
           {"--direction", "tb|lr", "top to bottom, or left to right"},
           {"--collapse", "DEPTH", "draw deeper nesting as one step; 0 shows the main path only"},
           {"--scale", "N", "pixels of a PNG per unit, 1 to 4"},
           {"--version", "V", "the version of the definition NAME (default: the newest)"}}),
      {"cairn render loan.yaml > loan.svg", "cairn render loan.yaml -o loan.png --scale 2 --theme dark",
       "cairn render loan.yaml --format txt", "cairn render big.yaml --collapse 1 -o big.svg",
       "cairn render 0190… --store sqlite:orders.db -o now.svg"}};
  return spec;
}

int run_render(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(render_spec(), args, arguments, out, err)) return *over;
  const auto wrong_call = [&](std::string_view what) {
    err << "cairn render: " << what << "\n`cairn render --help` shows examples.\n";
    return exit_usage;
  };
  if (arguments.positional().size() != 1) return wrong_call("name one definition file, definition or instance");
  const Result<render::Drawing> request = read_request(arguments);
  if (!request) return wrong_call(request.error().message);

  const std::string& name = arguments.positional().front();
  std::error_code ignored;
  if (name != "-" && !std::filesystem::exists(name, ignored) && names_a_place(arguments))
    return draw_stored(arguments, name, *request, out, err);
  Definition definition;
  if (const int code = load_file("render", name, in, err, definition)) return code;
  const Result<std::string> picture = render::draw(*definition.program, *request);
  if (!picture) {
    err << "cairn render: " << picture.error().message << "\n";
    return exit_code_of(picture.error().code);
  }
  return write_result("render", *picture, arguments.value("--output"), out, err);
}

}  // namespace cairn::cli
