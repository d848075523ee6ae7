#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

Listing kept_signals(const Arguments& arguments) {
  Listing listing;
  listing.request = {"GET", "/v1/signals"};
  const bool of_instance = arguments.has("--instance");
  for (const char* const name : {"name", "key", "instance"}) {
    if (const auto value = arguments.value(std::string("--") + name)) listing.request.query.emplace_back(name, *value);
  }
  listing.columns = {of_instance ? "ID" : "NUMBER", "NAME", "KEY", "AT", "UNTIL", "PAYLOAD"};
  listing.row = [of_instance](const Json& item) -> std::vector<std::string> {
    return {cell(item, of_instance ? "id" : "number"),
            cell(item, "name"),
            cell(item, "key"),
            cell(item, "at"),
            cell(item, "until"),
            write_json(item["payload"])};
  };
  return listing;
}

}  // namespace

const CommandSpec& signals_spec() {
  static const CommandSpec spec{
      "signals",
      "[list [--name NAME] [--key KEY] [--instance ID] | discard NUMBER [--reason TEXT]] [--json]",
      "List signals that no step has taken yet, or discard one",
      "Without --instance: signals by name and key that no instance waits for. With it: those that the instance "
      "keeps;\n"
      "`cairn signal ID --discard SIGNAL` discards one of them.",
      with_list_flags({{"--name", "NAME", "only signals of this name"},
                       {"--key", "KEY", "only signals with this key"},
                       {"--instance", "ID", "the signals that this instance keeps"},
                       {"--reason", "TEXT", "discard: the reason, for the audit trail"}}),
      {"cairn signals --server http://127.0.0.1:8400", "cairn signals discard 7"}};
  return spec;
}

int run_signals(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(signals_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  const std::string verb = given.empty() ? "list" : given[0];
  const bool discard = verb == "discard";
  if (!discard && verb != "list") return wrong_call("signals", "'" + verb + "' is unknown; use list or discard", err);
  if (discard && given.size() != 2) return wrong_call("signals", "discard needs the number of a kept signal", err);
  if (!discard && given.size() > 1) return wrong_call("signals", "list takes flags only", err);
  auto opened = ApiSession::open("signals", arguments, discard ? ApiSession::Use::change : ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  if (!discard) return print_listing(api, kept_signals(arguments), arguments, out, err);
  ApiRequest request{"DELETE", "/v1/signals/" + path_part(given[1])};
  if (const auto reason = arguments.value("--reason")) request.query.emplace_back("reason", *reason);
  const auto answer = api.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  out << "discarded\n";
  return exit_done;
}

}  // namespace cairn::cli
