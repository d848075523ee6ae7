#include "cli/render_command.h"

#include <cstdlib>
#include <filesystem>

#include "cli/exit_code.h"
#include "cli/loaded_file.h"
#include "cli/store_session.h"
#include "render/drawing.h"
#include "server/progress.h"

namespace cairn::cli {
namespace {

Result<render::Drawing> read_request(const Arguments& arguments) {
  const std::optional<std::string> file = arguments.value("--output");
  std::optional<std::string> format = arguments.value("--format");
  if (!format && file && *file != "-") {
    const std::size_t dot = file->rfind('.');
    if (dot == std::string::npos)
      return Error{ErrorCode::invalid, "what " + *file + " should hold is not clear: give it an ending or --format"};
    format = file->substr(dot + 1);
  }
  return render::read_drawing(
      [&](std::string_view name) { return name == "format" ? format : arguments.value("--" + std::string(name)); },
      "--");
}

// What the one argument names: a file, or with --store a definition or an instance.
struct Subject {
  std::shared_ptr<const Program> program;
  std::optional<render::Overlay> progress;
};

Result<std::shared_ptr<const Program>> stored_program(Store& store, const std::string& name,
                                                      const std::optional<std::string>& version) {
  CAIRN_TRY(const auto row, store.find_definition(name, version));
  if (!row) return Error{ErrorCode::not_found, "no definition " + name + (version ? " " + *version : "")};
  return compile_program(row->canonical);
}

Result<Subject> find_subject(Store& store, const std::string& name, const std::optional<std::string>& version) {
  Subject subject;
  CAIRN_TRY(const auto instance, store.find_instance({name}));
  if (!instance) {
    auto program = stored_program(store, name, version);
    if (!program && program.error().code == ErrorCode::not_found)
      return Error{ErrorCode::not_found, "no file, definition or instance " + name};
    CAIRN_TRY(subject.program, std::move(program));
    return subject;
  }
  CAIRN_TRY(subject.program, stored_program(store, instance->program.name, instance->program.version));
  CAIRN_TRY(const auto snapshot, store.find_snapshot({name}));
  if (snapshot) {
    CAIRN_TRY(subject.progress, server::read_progress(store, *subject.program, *snapshot));
  }
  return subject;
}

}  // namespace

const CommandSpec& render_spec() {
  static const CommandSpec spec{
      "render",
      "FILE|NAME|ID [-o OUT.svg|.png|.mmd|.dot|.json|.txt] [--theme light|dark] [--direction tb|lr] [--collapse "
      "DEPTH] [--scale N] [--store URL] [--version V]",
      "Draw a definition, or an instance with its progress, as SVG, PNG, Mermaid, DOT, layout JSON or text",
      "FILE is a definition in YAML or JSON, or - for standard input; what is no file is the NAME of a definition or "
      "the ID of\n"
      "an instance in the store. Without -o the SVG goes to standard output; with it the ending says what to write. "
      "The same definition gives the same bytes on every machine. docs/diagrams.md tells "
      "what\n"
      "the shapes and lines mean.\n"
      "Exit codes: 0 done, 3 not found, 8 the definition is not valid, 2 a wrong call or a file that cannot be read.",
      {{"--output", "OUT", "write to this file; its ending chooses the format", "-o"},
       {"--format", "svg|png|mmd|dot|json|txt", "the format, when the ending does not say it"},
       {"--theme", "light|dark", "colours of SVG and PNG; light by default"},
       {"--direction", "tb|lr", "from top to bottom, or from left to right"},
       {"--collapse", "DEPTH", "draw what is nested deeper than this as one step; 0 shows the main path only"},
       {"--scale", "N", "pixels of a PNG per unit, 1 to 4"},
       store_flag,
       {"--version", "V", "of a definition in the store; the newest by default"}},
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
  Subject subject;
  std::error_code ignored;
  if (name != "-" && !std::filesystem::exists(name, ignored) &&
      (arguments.value("--store") || std::getenv("CAIRN_STORE"))) {
    auto opened = StoreSession::open("render", arguments, StoreSession::Use::read, err);
    if (const int* code = std::get_if<int>(&opened)) return *code;
    auto found = find_subject(std::get<0>(opened)->store(), name, arguments.value("--version"));
    if (!found) return fail("render", found.error(), err);
    subject = std::move(*found);
  } else {
    Definition definition;
    if (const int code = load_file("render", name, in, err, definition)) return code;
    subject.program = definition.program;
  }
  const Result<std::string> picture =
      render::draw(*subject.program, *request, subject.progress ? &*subject.progress : nullptr);
  if (!picture) {
    err << "cairn render: " << picture.error().message << "\n";
    return exit_code_of(picture.error().code);
  }
  return write_result("render", *picture, arguments.value("--output"), out, err);
}

}  // namespace cairn::cli
