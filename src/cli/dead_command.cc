#include "cli/dead_command.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"
#include "cli/table.h"

namespace cairn::cli {
namespace {

int list(ApiSession& api, const Arguments& arguments, std::ostream& out, std::ostream& err) {
  Json items = Json::array();
  Table table({"ID", "AT", "KIND", "INSTANCE", "REASON"});
  const auto take = [&](const Json& item) {
    items.push_back(item);
    table.add({write_json(item["id"]), std::string(item.text_or("at", "")), std::string(item.text_or("kind", "")),
               std::string(item.text_or("instance", "")), std::string(item.text_or("reason", ""))});
    return true;
  };
  if (const auto code = api.each({"GET", "/v1/dead-letters"}, 10'000, take, err)) return *code;
  if (arguments.has("--json")) {
    out << write_json(Json::object({{"items", items}})) << "\n";
    return exit_done;
  }
  table.print(out);
  if (table.empty() && on_terminal(out)) err << "There is none.\n";
  return exit_done;
}

}  // namespace

const CommandSpec& dead_spec() {
  static const CommandSpec spec{
      "dead",
      "[list | show ID | replay ID | discard ID] [--json]",
      "List, show, replay or discard dead letters",
      "A dead letter is what could not be delivered, with everything that replaying it needs.",
      with_api_flags({as_json_flag}),
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
    return wrong_call("dead", "'" + verb + "' is none of list, show, replay, discard", err);
  if (verb != "list" && given.size() != 2) return wrong_call("dead", verb + " needs the letter's number", err);
  auto opened = ApiSession::open("dead", arguments, changes ? ApiSession::Use::change : ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  if (verb == "list") return list(api, arguments, out, err);
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
