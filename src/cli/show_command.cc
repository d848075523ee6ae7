#include "cli/show_command.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& show_spec() {
  static const CommandSpec spec{
      "show", "ID --store URL [--json]", "Show an instance: status, state, waits, error, output",
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
  out << (arguments.has("--json") ? write_json(document) : write_json_pretty(document)) << "\n";
  return exit_done;
}

}  // namespace cairn::cli
