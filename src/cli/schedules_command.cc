#include "cli/commands.h"

#include <algorithm>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

constexpr std::string_view schedule_verbs[] = {"list",   "show",    "create",  "change", "pause",
                                               "resume", "trigger", "preview", "delete"};

struct TextFlag {
  std::string_view flag;
  std::string_view member;
};
constexpr TextFlag text_flags[] = {{"--cron", "cron"},         {"--every", "every"},  {"--zone", "zone"},
                                   {"--from", "from"},         {"--until", "until"},  {"--overlap", "overlap"},
                                   {"--catch-up", "catch_up"}, {"--jitter", "jitter"}};

// The schedule that the flags describe.
Result<Json> wish_of(const Arguments& arguments, std::istream& in) {
  Json wish = Json::object();
  for (const auto& [flag, member] : text_flags) {
    if (const auto value = arguments.value(flag)) wish.set(member, *value);
  }
  if (const auto definition = arguments.value("--definition")) {
    Json start = Json::object({{"definition", *definition}});
    if (const auto version = arguments.value("--version")) start.set("version", *version);
    if (const auto input = arguments.value("--input")) {
      CAIRN_TRY(Json value, read_json_argument(*input, in));
      start.set("input", std::move(value));
    }
    wish.set("start", std::move(start));
  }
  if (const auto type = arguments.value("--run")) {
    Json run = Json::object({{"type", *type}});
    if (const auto payload = arguments.value("--payload")) {
      CAIRN_TRY(Json value, read_json_argument(*payload, in));
      run.set("payload", std::move(value));
    }
    wish.set("run", std::move(run));
  }
  if (arguments.has("--paused")) wish.set("paused", true);
  return wish;
}

std::string beat_of(const Json& schedule) {
  if (schedule["cron"].is_string()) {
    const std::string_view zone = schedule.text_or("zone", "UTC");
    return std::string(schedule.text_or("cron", "")) + (zone == "UTC" ? "" : " " + std::string(zone));
  }
  const auto every = parse_duration(schedule.text_or("every", ""));
  return "every " + (every ? format_duration_short(*every) : std::string(schedule.text_or("every", "")));
}

std::string target_of(const Json& schedule) {
  if (schedule["start"].is_object()) return std::string(schedule["start"].text_or("definition", ""));
  return "run " + std::string(schedule["run"].text_or("type", ""));
}

std::string last_of(const Json& schedule) {
  const Json& last = schedule["last"];
  for (const char* member : {"error", "instance", "run"}) {
    if (last[member].is_string()) return std::string(last[member].as_string());
  }
  return "";
}

Listing all_schedules() {
  Listing listing;
  listing.request = {"GET", "/v1/schedules"};
  listing.columns = {"NAME", "WHEN", "STARTS", "NEXT", "LAST"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    const std::string next = cell(item, "next_at");
    return {cell(item, "name"), beat_of(item), target_of(item),
            item["paused"] == Json(true) ? "paused"
            : next.empty()               ? "never"
                                         : next,
            last_of(item)};
  };
  return listing;
}

}  // namespace

const CommandSpec& schedules_spec() {
  static const CommandSpec spec{
      "schedules",
      "[list|show|create|change|pause|resume|trigger|preview|delete] [NAME] …",
      "Manage schedules that start instances or runs",
      "",
      with_list_flags({{"--cron", "TEXT", "5 or 6 fields, or @daily"},
                       {"--every", "DURATION", "the time between two firings, such as 15m (instead of --cron)"},
                       {"--zone", "NAME", "the time zone of --cron (default UTC)"},
                       {"--definition", "NAME", "start instances of this definition"},
                       {"--version", "V", "the version of the definition (default: the newest)"},
                       {"--input", "JSON|@FILE", "the input of the instances"},
                       {"--run", "TYPE", "submit runs of this type (instead of --definition)"},
                       {"--payload", "JSON|@FILE", "the payload of the runs"},
                       {"--overlap", "POLICY", "skip (default), queue, allow or cancel_other"},
                       {"--catch-up", "DURATION", "how late a missed firing may still be fired"},
                       {"--jitter", "DURATION", "delay each firing by up to this much"},
                       {"--from", "TIME", "no firing before"},
                       {"--until", "TIME", "no firing after"},
                       {"--paused", "", "create: start paused"},
                       {"--count", "N", "preview: how many times to show (default 5)"}}),
      {"cairn schedules create nightly --cron '0 2 * * *' --zone Europe/Berlin --definition report",
       "cairn schedules preview nightly --count 3"}};
  return spec;
}

int run_schedules(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(schedules_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  const std::string verb = given.empty() ? "list" : given[0];
  if (std::find(std::begin(schedule_verbs), std::end(schedule_verbs), verb) == std::end(schedule_verbs)) {
    return wrong_call(
        "schedules",
        "'" + verb + "' is unknown; use list, show, create, change, pause, resume, trigger, preview or delete", err);
  }
  const bool look = verb == "list" || verb == "show" || verb == "preview";
  if (given.size() != (verb == "list" ? std::min<std::size_t>(given.size(), 1) : 2)) {
    return wrong_call("schedules", verb == "list" ? "list takes no name" : verb + " needs the name of a schedule", err);
  }
  auto opened = ApiSession::open("schedules", arguments, look ? ApiSession::Use::read : ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& session = *std::get<0>(opened);
  if (verb == "list") return print_listing(session, all_schedules(), arguments, out, err);

  ApiRequest request{"POST", "/v1/schedules/" + path_part(given[1])};
  if (verb == "show") request.method = "GET";
  if (verb == "delete") request.method = "DELETE";
  if (verb == "pause" || verb == "resume" || verb == "trigger") request.path += "/" + verb;
  if (verb == "preview") {
    request.method = "GET";
    request.path += "/preview";
    if (const auto count = arguments.value("--count")) request.query.emplace_back("count", *count);
  }
  if (verb == "create" || verb == "change") {
    auto wish = wish_of(arguments, in);
    if (!wish) return fail("schedules", wish.error(), err);
    request.body = std::move(*wish);
    if (verb == "create") {
      request.path = "/v1/schedules";
      request.body.set("name", given[1]);
    } else {
      request.method = "PATCH";
    }
  }
  const auto answer = session.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (verb == "delete") {
    if (!arguments.has("--json")) out << given[1] << " deleted\n";
    return exit_done;
  }
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
  } else if (verb == "preview") {
    for (const Json& at : document["items"].is_array() ? document["items"].items() : Json::Array()) {
      out << (at.is_string() ? at.as_string() : "") << "\n";
    }
  } else if (verb == "show") {
    out << write_json_pretty(document) << "\n";
  } else if (verb == "trigger") {
    out << last_of(document) << "\n";
  } else {
    const bool paused = document["paused"].is_bool() && document["paused"].as_bool();
    out << given[1] << (paused ? " paused" : " next " + std::string(document.text_or("next_at", "never"))) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
