#include "cli/commands.h"

#include <charconv>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/listing.h"
#include "cli/store_session.h"
#include "cli/table.h"
#include "instance/snapshot.h"

namespace cairn::cli {
namespace {

void print_event(std::ostream& out, const Json& event) {
  out << event.text_or("at", "") << "  v" << write_json(event["state_version"]) << "  " << event.text_or("event", "");
  if (!event.text_or("step", "").empty()) out << " " << event.text_or("step", "");
  if (!event.text_or("actor", "").empty()) out << " by " << event.text_or("actor", "");
  if (event["attempt"].is_integer() && event["attempt"].as_integer() > 1)
    out << ", attempt " << event["attempt"].as_integer();
  if (!event["details"].is_null()) out << "  " << write_json(event["details"]);
  out << "\n";
}

Listing entries_at(const std::string& instance) {
  Listing listing;
  listing.request = {"GET", instance + "/history"};
  listing.columns = {"AT", "STATE_VERSION", "EVENT", "STEP", "ATTEMPT", "ACTOR", "DETAILS"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "at"),      cell(item, "state_version"), cell(item, "event"),  cell(item, "step"),
            cell(item, "attempt"), cell(item, "actor"),         cell(item, "details")};
  };
  return listing;
}

}  // namespace

const CommandSpec& history_spec() {
  static const CommandSpec spec{"history",
                                "ID [--follow] [--limit N] [--columns NAMES] [--json]",
                                "Show what happened to an instance, oldest first",
                                "",
                                with_api_flags({{"--follow", "", "print new entries until it ends"},
                                                {"--limit", "N", "maximum number of entries"},
                                                {"--cursor", "CURSOR", "continue: next_cursor of --json"},
                                                {"--columns", "NAMES", "a table with these columns: AT,EVENT,STEP"},
                                                as_json_flag}),
                                {"cairn history 0190… --server http://127.0.0.1:8400 --follow"}};
  return spec;
}

int run_history(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(history_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("history", "name one instance", err);
  auto opened = ApiSession::open("history", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  const std::string place = "/v1/instances/" + path_part(arguments.positional()[0]);
  const bool json = arguments.has("--json");
  const bool follow = arguments.has("--follow");
  if (arguments.has("--columns") && !follow) return print_listing(api, entries_at(place), arguments, out, err);
  if (arguments.has("--columns")) return wrong_call("history", "--follow takes no --columns", err);
  std::size_t most = 1'000'000;
  if (const auto text = arguments.value("--limit")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), most);
    if (error != std::errc() || end != text->data() + text->size() || most == 0 || follow)
      return wrong_call("history", follow ? "--follow takes no --limit" : "--limit takes a number from 1", err);
  }
  std::string cursor = arguments.value("--cursor").value_or("");
  std::int64_t seen = 0;
  Json items = Json::array();
  auto instance = api.ask({"GET", place}, err);
  while (true) {
    // Read the status first: events after it are in the list that follows.
    if (const int* code = std::get_if<int>(&instance)) return *code;
    const auto take = [&](const Json& event) {
      const std::int64_t sequence = event["sequence"].is_integer() ? event["sequence"].as_integer() : 0;
      if (sequence <= seen) return true;
      seen = sequence;
      if (!json) {
        print_event(out, event);
      } else if (follow) {
        out << write_json(event) << "\n";
      } else {
        items.push_back(event);
      }
      return true;
    };
    std::string next = cursor;
    if (const auto code = api.each({"GET", place + "/history"}, most, take, err, &next)) return *code;
    if (!follow) cursor = next;
    out << std::flush;
    const auto status = status_from(std::get<0>(instance).body.text_or("status", ""));
    if (!follow || !status || is_final(*status) || reader_is_gone(out)) break;
    instance = api.next_change(place, std::get<0>(instance).body, err);
  }
  if (json && !follow) {
    out << write_json(Json::object({{"items", items}, {"next_cursor", cursor.empty() ? Json() : Json(cursor)}}))
        << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
