#include "cli/start_command.h"

#include <filesystem>

#include "base/limits.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/load_definitions.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& start_spec() {
  static const CommandSpec spec{
      "start",
      "NAME|FILE --store URL [--input JSON|@FILE] [--version V] [--key KEY] [--id ID]",
      "Start an instance on a store",
      "A FILE is deployed first. The instance runs until it waits; a server, or the next command, "
      "goes on from there.",
      {store_flag,
       {"--input", "JSON|@FILE", "the start payload (default {})"},
       {"--version", "V", "exactly this version (default: the newest)"},
       {"--key", "KEY", "idempotency key: the same key starts once"},
       {"--id", "ID", "the new instance's id"},
       json_flag},
      {"cairn start order --store sqlite:orders.db --input '{\"amount\": 12}'"}};
  return spec;
}

int run_start(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(start_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("start", "name one definition or file", err);
  StartRequest request;
  request.definition = arguments.positional()[0];
  request.version = arguments.value("--version");
  request.id = arguments.value("--id").value_or("");
  request.idempotency_key = arguments.value("--key").value_or("");
  request.actor.name = "cli";
  if (const auto input = arguments.value("--input")) {
    auto json = read_json_argument(*input, in);
    if (!json) return fail("start", json.error(), err);
    request.input = std::move(*json);
  }
  auto opened = StoreSession::open("start", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  if (std::filesystem::is_regular_file(request.definition)) {
    const Limits limits;
    auto program = load_program("start", request.definition, limits, in, err);
    if (!program) return program.error();
    if (auto deployed = session.coordinator().registry().deploy(*program); !deployed) {
      return fail("start", deployed.error(), err);
    }
    request.definition = (*program)->name;
    if (!request.version) request.version = (*program)->version;
  }
  const auto started = session.coordinator().start(request);
  if (!started) return fail("start", started.error(), err);
  session.coordinator().settle();
  if (arguments.has("--json")) {
    out << write_json(server::document(*started)) << "\n";
  } else {
    out << started->instance.value << " " << to_string(started->status)
        << (started->repeated ? " (started before)" : "") << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
