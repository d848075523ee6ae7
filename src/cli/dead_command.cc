#include "cli/dead_command.h"

#include <charconv>

#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& dead_spec() {
  static const CommandSpec spec{
      "dead",
      "list|replay|discard [ID] --store URL [--json]",
      "List, replay or discard dead letters",
      "",
      {store_flag, json_flag},
      {"cairn dead list --store sqlite:orders.db", "cairn dead replay 7 --store sqlite:orders.db"}};
  return spec;
}

int run_dead(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(dead_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  const std::string verb = given.empty() ? "list" : given[0];
  if (verb == "list") {
    auto opened = StoreSession::open("dead", arguments, StoreSession::Use::read, err);
    if (const int* code = std::get_if<int>(&opened)) return *code;
    StoreSession& session = *std::get<0>(opened);
    const auto letters = session.store().list_dead_letters({1000, ""});
    if (!letters) return fail("dead", letters.error(), err);
    Json items = Json::array();
    for (const DeadLetter& letter : letters->items) {
      if (arguments.has("--json")) {
        items.push_back(Json::object({{"id", letter.id},
                                      {"kind", letter.kind},
                                      {"instance", letter.instance ? Json(letter.instance->value) : Json()},
                                      {"reason", letter.reason},
                                      {"node", letter.node},
                                      {"at", format_timestamp(letter.at)},
                                      {"envelope", letter.envelope}}));
        continue;
      }
      out << letter.id << "  " << format_timestamp(letter.at) << "  " << letter.kind;
      if (letter.instance) out << "  " << letter.instance->value;
      out << "  " << letter.reason << "\n";
    }
    if (arguments.has("--json")) out << write_json(Json::object({{"items", items}})) << "\n";
    return exit_done;
  }
  if (verb != "replay" && verb != "discard")
    return wrong_call("dead", "'" + verb + "' is none of list, replay, discard", err);
  std::int64_t id = 0;
  if (given.size() != 2 || std::from_chars(given[1].data(), given[1].data() + given[1].size(), id).ptr !=
                               given[1].data() + given[1].size()) {
    return wrong_call("dead", verb + " needs the letter's number", err);
  }
  auto opened = StoreSession::open("dead", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto done =
      verb == "replay" ? session.coordinator().replay_dead_letter(id, {}) : session.store().discard_dead_letter(id);
  if (!done) return fail("dead", done.error(), err);
  if (!*done) return fail("dead", {ErrorCode::not_found, "no dead letter " + given[1]}, err);
  session.coordinator().settle();
  out << (verb == "replay" ? "replayed\n" : "discarded\n");
  return exit_done;
}

}  // namespace cairn::cli
