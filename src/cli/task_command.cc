#include "cli/commands.h"

#include <algorithm>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/instance_answer.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

Listing events_of_task(ApiRequest request) {
  Listing listing;
  listing.request = std::move(request);
  listing.columns = {"AT", "EVENT", "ACTOR", "DETAILS"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "at"), cell(item, "event"), cell(item, "actor"), cell(item, "details")};
  };
  return listing;
}

}  // namespace

const CommandSpec& task_spec() {
  static const CommandSpec spec{
      "task",
      "show|events|assign|release|reassign|complete|comment TASK …",
      "Show a task, or assign, release, reassign, complete or comment on it",
      "",
      with_list_flags({{"--to", "USER", "assign (default: the caller), reassign: the new assignee"},
                       {"--payload", "JSON|@FILE", "complete: the answer (default {})"},
                       {"--text", "TEXT", "comment: the text"},
                       {"--key", "KEY", "complete: idempotency key"},
                       {"--if-state-version", "N", "fail if the task is no longer at this state version"}}),
      {"cairn task complete 0190… --payload '{\"ok\": true}' --as ann --server http://127.0.0.1:8400"}};
  return spec;
}

int run_task(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(task_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 2) return wrong_call("task", "name an action and a task", err);
  const std::string& verb = arguments.positional()[0];
  constexpr std::string_view verbs[] = {"show", "events", "assign", "release", "reassign", "complete", "comment"};
  if (std::find(std::begin(verbs), std::end(verbs), verb) == std::end(verbs))
    return wrong_call(
        "task", "'" + verb + "' is unknown; use show, events, assign, release, reassign, complete or comment", err);
  const bool look = verb == "show" || verb == "events";
  ApiRequest request{look ? "GET" : "POST", "/v1/tasks/" + path_part(arguments.positional()[1])};
  if (verb != "show") request.path += "/" + verb;
  if (!look) request.body = Json::object();
  if (const auto who = arguments.value("--to")) request.body.set("assignee", *who);
  if (verb == "reassign" && !arguments.has("--to")) return wrong_call("task", "reassign needs --to", err);
  if (verb == "comment") {
    const std::string text = arguments.value("--text").value_or("");
    if (text.empty()) return wrong_call("task", "comment needs --text", err);
    request.body.set("comment", text);
  }
  if (verb == "complete") {
    auto payload = read_json_argument(arguments.value("--payload").value_or("{}"), in);
    if (!payload) return fail("task", payload.error(), err);
    request.body.set("payload", std::move(*payload));
  }
  if (const auto key = arguments.value("--key")) request.headers.emplace_back("idempotency-key", *key);
  if (const auto version = arguments.value("--if-state-version")) request.headers.emplace_back("if-match", *version);
  auto opened = ApiSession::open("task", arguments, look ? ApiSession::Use::read : ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  if (verb == "events")
    return print_listing(*std::get<0>(opened), events_of_task(std::move(request)), arguments, out, err);
  const auto answer = std::get<0>(opened)->ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (look) {
    out << (arguments.has("--json") ? write_json(document) : write_json_pretty(document)) << "\n";
    return exit_done;
  }
  if (arguments.has("--json") || verb == "complete") return print_answer(arguments, document, out);
  out << document.text_or("id", "") << " " << document.text_or("status", "");
  if (!document.text_or("assignee", "").empty()) out << " " << document.text_or("assignee", "");
  out << "\n";
  return exit_done;
}

}  // namespace cairn::cli
