#include "cli/show_command.h"

#include "cli/exit_code.h"
#include "cli/instance_text.h"
#include "cli/store_session.h"
#include "render/drawing.h"
#include "server/progress.h"

namespace cairn::cli {
namespace {

// Empty when the definition cannot be had: the rest of the answer is still worth showing.
std::string tree_of(Store& store, const Snapshot& snapshot) {
  const auto row = store.find_definition(snapshot.program.name, snapshot.program.version);
  if (!row || !*row) return "";
  const auto program = compile_program((*row)->canonical);
  if (!program) return "";
  const auto progress = server::read_progress(store, **program, snapshot);
  render::Drawing drawing;
  drawing.format = render::Format::text;
  return render::draw(**program, drawing, progress ? &*progress : nullptr).value_or("");
}

}  // namespace

const CommandSpec& show_spec() {
  static const CommandSpec spec{
      "show", "ID --store URL [--json]", "Show an instance: how far it is, its state, waits, error, output",
      "",     {store_flag, json_flag},   {"cairn show 0190… --store sqlite:orders.db"}};
  return spec;
}

int run_show(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(show_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("show", "name one instance", err);
  const InstanceId id{arguments.positional()[0]};
  auto opened = StoreSession::open("show", arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto row = session.store().find_instance(id);
  if (!row) return fail("show", row.error(), err);
  if (!*row) return fail("show", {ErrorCode::not_found, "no instance " + id.value}, err);
  const auto snapshot = session.store().find_snapshot(id);
  const bool readable = snapshot && *snapshot;
  Json document = readable ? server::document(**row, **snapshot) : server::document(**row);
  if (!snapshot) document.set("snapshot_error", snapshot.error().message);
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
    return exit_done;
  }
  print_instance(out, document, readable ? tree_of(session.store(), **snapshot) : "");
  if (!snapshot) out << "\nIts snapshot cannot be read: " << snapshot.error().message << "\n";
  return exit_done;
}

}  // namespace cairn::cli
