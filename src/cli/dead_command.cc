#include "cli/commands.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

Listing letters() {
  Listing listing;
  listing.request = {"GET", "/v1/dead-letters"};
  listing.columns = {"ID", "AT", "KIND", "INSTANCE", "REASON"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "id"), cell(item, "at"), cell(item, "kind"), cell(item, "instance"), cell(item, "reason")};
  };
  return listing;
}

}  // namespace

const CommandSpec& dead_spec() {
  static const CommandSpec spec{
      "dead",
      "[list | show ID | replay ID | discard ID] [--json]",
      "List, show, replay or discard dead letters",
      "A dead letter is a message that could not be delivered. It contains everything that a replay needs.",
      with_list_flags({}),
      {"cairn dead --server http://127.0.0.1:8400", "cairn dead replay 7"}};
  return spec;
}

int run_dead(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(dead_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  const std::string verb = given.empty() ? "list" : given[0];
  const bool changes = verb == "replay" || verb == "discard";
  if (!changes && verb != "list" && verb != "show")
    return wrong_call("dead", "'" + verb + "' is unknown; use list, show, replay or discard", err);
  if (verb == "list" && given.size() > 1) return wrong_call("dead", "list takes flags only", err);
  if (verb != "list" && given.size() != 2) return wrong_call("dead", verb + " needs the number of a dead letter", err);
  auto opened = ApiSession::open("dead", arguments, changes ? ApiSession::Use::change : ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  if (verb == "list") return print_listing(api, letters(), arguments, out, err);
  ApiRequest request{verb == "show"     ? "GET"
                     : verb == "replay" ? "POST"
                                        : "DELETE",
                     "/v1/dead-letters/" + path_part(given[1])};
  if (verb == "replay") request.path += "/replay";
  const auto answer = api.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  if (verb == "show") {
    const Json& letter = std::get<0>(answer).body;
    out << (arguments.has("--json") ? write_json(letter) : write_json_pretty(letter)) << "\n";
  } else {
    out << (verb == "replay" ? "replayed\n" : "discarded\n");
  }
  return exit_done;
}

}  // namespace cairn::cli
