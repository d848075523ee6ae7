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
  Json document = to_json(**row);
  const auto snapshot = session.store().find_snapshot(id);
  if (!snapshot) {
    document.set("snapshot_error", snapshot.error().message);
  } else if (*snapshot) {
    document.set("input", (*snapshot)->input);
    document.set("state", (*snapshot)->state);
    if ((*snapshot)->status == Status::completed) document.set("output", (*snapshot)->output);
    Json waits = Json::array();
    for (const Wait& wait : (*snapshot)->waits) waits.push_back(to_json(wait));
    document.set("waits", waits);
  }
  out << (arguments.has("--json") ? write_json(document) : write_json_pretty(document)) << "\n";
  return exit_done;
}

}  // namespace cairn::cli
