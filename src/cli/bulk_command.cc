#include "cli/commands.h"

#include <algorithm>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/safe_output.h"
#include "cli/store_session.h"
#include "cli/table.h"

namespace cairn::cli {
namespace {

constexpr std::string_view actions[] = {"cancel", "suspend", "resume", "retry", "signal", "delete"};

void print_preview(const Json& preview, std::ostream& out) {
  Table table({"ID", "STATUS", "DEFINITION"});
  for (const Json& one : preview["instances"].items())
    table.add({std::string(one.text_or("id", "")), std::string(one.text_or("status", "")),
               std::string(one.text_or("definition", ""))});
  table.print(out);
}

// Waits until the job is done; shows its progress on a terminal.
int follow(ApiSession& api, const std::string& id, const Arguments& arguments, std::ostream& out, std::ostream& err) {
  for (std::string after = "0";;) {
    ApiRequest look{"GET", "/v1/bulk/" + path_part(id)};
    look.query.emplace_back("after", after);
    const auto answer = api.ask(look, err);
    if (const int* code = std::get_if<int>(&answer)) return *code;
    const Json& job = std::get<0>(answer).body;
    const bool finished = job["finished"] == Json(true);
    if (finished && arguments.has("--json")) {
      out << write_json(job) << "\n";
    } else if (finished || on_terminal(out)) {
      if (on_terminal(out)) print_raw(out, "\r");
      out << write_json(job["done"]) << " of " << write_json(job["total"]) << " done" << (finished ? "\n" : "")
          << std::flush;
    }
    if (finished) {
      for (const Json& one : job["failed"].items())
        err << one.text_or("instance", "") << ": " << one.text_or("detail", "") << "\n";
      return job["failed"].size() == 0 ? exit_done : exit_failed;
    }
    after = std::to_string(job["done"].as_integer() + job["failed_count"].as_integer());
  }
}

}  // namespace

const CommandSpec& bulk_spec() {
  static const CommandSpec spec{
      "bulk",
      "cancel|suspend|resume|retry|signal|delete --filter FILTER [--yes] [--reason TEXT]",
      "Apply one action to all instances that match a filter",
      "Without --yes it only lists the matching instances. FILTER is the language of `GET /v1/instances?filter=`:\n"
      "status:suspended definition:order …",
      with_api_flags({{"--filter", "FILTER", "the instances to change"},
                      {"--all", "", "every instance, without a filter"},
                      {"--max", "N", "refuse if more instances match (default 1000)"},
                      {"--yes", "", "apply the action; without it, only list the instances"},
                      {"--reason", "TEXT", "the reason, for the history"},
                      {"--signal", "NAME", "signal: its name"},
                      {"--key", "KEY", "signal: its key"},
                      {"--payload", "JSON|@FILE", "signal: its payload"},
                      as_json_flag}),
      {"cairn bulk retry --filter 'status:suspended definition:order'",
       "cairn bulk cancel --filter 'definition:old' --yes"}};
  return spec;
}

int run_bulk(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(bulk_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  if (given.size() != 1 || std::find(std::begin(actions), std::end(actions), given[0]) == std::end(actions))
    return wrong_call("bulk", "name an action: cancel, suspend, resume, retry, signal or delete", err);
  if (!arguments.has("--filter") && !arguments.has("--all"))
    return wrong_call("bulk", "select instances with --filter, or use --all for every instance", err);
  if (given[0] == "signal" && !arguments.has("--signal")) return wrong_call("bulk", "signal needs --signal NAME", err);
  ApiRequest request{"POST", "/v1/bulk"};
  request.body = Json::object({{"action", given[0]}});
  if (const auto filter = arguments.value("--filter")) request.body.set("filter", *filter);
  if (arguments.has("--all")) request.body.set("all", true);
  if (const auto max = arguments.value("--max")) {
    const auto number = parse_json(*max);
    if (!number || !number->is_integer()) return wrong_call("bulk", "--max takes a number", err);
    request.body.set("max", *number);
  }
  if (const auto reason = arguments.value("--reason")) request.body.set("reason", *reason);
  if (const auto name = arguments.value("--signal")) {
    Json signal = Json::object({{"name", *name}});
    if (const auto key = arguments.value("--key")) signal.set("key", *key);
    if (const auto payload = arguments.value("--payload")) {
      auto json = read_json_argument(*payload, in);
      if (!json) return fail("bulk", json.error(), err);
      signal.set("payload", std::move(*json));
    }
    request.body.set("signal", signal);
  }
  const bool preview = !arguments.has("--yes");
  if (preview) request.body.set("dry_run", true);
  auto opened = ApiSession::open("bulk", arguments, preview ? ApiSession::Use::read : ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  const auto answer = api.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (!preview) return follow(api, std::string(document.text_or("id", "")), arguments, out, err);
  if (arguments.has("--json")) {
    out << write_json(document) << "\n";
    return exit_done;
  }
  print_preview(document, out);
  const std::int64_t matched = document["matched"].as_integer();
  err << (document["more"] == Json(true) ? "more than " : "") << matched << " match; --yes"
      << (matched > 1000 ? " --max " + std::to_string(matched) : "") << " does it\n";
  return exit_done;
}

}  // namespace cairn::cli
