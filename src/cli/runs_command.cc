#include "cli/commands.h"

#include <algorithm>

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/listing.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

constexpr std::string_view run_verbs[] = {"list",   "show",  "events", "submit", "cancel",
                                          "delete", "types", "pause",  "resume", "limit"};

int list(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  ApiRequest request{"GET", "/v1/runs"};
  if (const auto status = arguments.value("--status")) request.query.emplace_back("status", *status);
  if (const auto type = arguments.value("--type")) request.query.emplace_back("type", *type);
  if (const auto instance = arguments.value("--instance")) request.query.emplace_back("instance", *instance);
  if (arguments.has("--all")) request.query.emplace_back("deleted", "true");
  auto opened = ApiSession::open("runs", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  Listing listing;
  listing.request = std::move(request);
  listing.most = 1000;
  listing.columns = {"ID", "STATUS", "AGE", "TYPE", "ATTEMPT", "WORKER", "ERROR"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "id"),
            cell(item, "status"),
            age_cell(item, "created_at"),
            cell(item, "type"),
            cell(item, "attempt") + "/" + cell(item, "max_attempts"),
            cell(item, "leased_by"),
            cell(item, "last_error")};
  };
  return print_listing(*std::get<0>(opened), listing, arguments, out, err);
}

Listing all_types() {
  Listing listing;
  listing.request = {"GET", "/v1/run-types"};
  listing.paged = false;
  listing.columns = {"TYPE", "STATUS", "CONCURRENCY", "RATE", "PER", "BY", "LEASE", "ATTEMPTS", "BACKOFF"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "type"),        item["paused"] == Json(true) ? "paused" : "active",
            cell(item, "concurrency"), cell(item, "rate"),
            cell(item, "rate_window"), cell(item, "limit_key"),
            cell(item, "lease"),       cell(item, "max_attempts"),
            cell(item, "backoff")};
  };
  return listing;
}

Listing events_of_run(const std::string& run) {
  Listing listing;
  listing.request = {"GET", "/v1/runs/" + path_part(run) + "/events"};
  listing.columns = {"AT", "EVENT", "ATTEMPT", "ACTOR", "DETAILS"};
  listing.row = [](const Json& item) -> std::vector<std::string> {
    return {cell(item, "at"), cell(item, "event"), cell(item, "attempt"), cell(item, "actor"), cell(item, "details")};
  };
  return listing;
}

// The changed settings of a type; the others stay.
Result<Json> type_document(ApiSession& session, const std::string& verb, const Arguments& arguments) {
  Json body = Json::object();
  CAIRN_TRY(const ApiAnswer now, session.call({"GET", "/v1/run-types/" + path_part(arguments.positional()[1])}));
  if (now.ok()) body = now.body;
  body.erase("type");
  if (verb != "limit") {
    body.set("paused", verb == "pause");
    return body;
  }
  constexpr std::pair<std::string_view, std::string_view> texts[] = {
      {"--lease", "lease"}, {"--backoff", "backoff"}, {"--per", "rate_window"}, {"--by", "limit_key"}};
  for (const auto& [flag, member] : texts) {
    if (const auto value = arguments.value(flag)) body.set(member, *value);
  }
  constexpr std::pair<std::string_view, std::string_view> counts[] = {
      {"--concurrency", "concurrency"}, {"--rate", "rate"}, {"--attempts", "max_attempts"}};
  for (const auto& [flag, member] : counts) {
    const auto value = arguments.value(flag);
    if (!value) continue;
    const auto count = parse_json(*value);
    if (!count || !count->is_integer()) {
      return Error{ErrorCode::invalid, std::string(flag) + " takes a number, not '" + *value + "'"};
    }
    body.set(member, *count);
  }
  return body;
}

}  // namespace

const CommandSpec& runs_spec() {
  static const CommandSpec spec{
      "runs",
      "[list] | show|events|cancel|delete ID | submit TYPE | types | pause|resume|limit TYPE",
      "List, show, submit, cancel and delete runs; pause and limit run types",
      "A deleted run keeps its idempotency key. `limit` changes the given settings and keeps the others.",
      with_list_flags({{"--status", "STATUS", "list: pending, leased, succeeded, failed or cancelled"},
                       {"--type", "PREFIX", "list: types that begin with this"},
                       {"--instance", "ID", "list: runs of this instance"},
                       {"--all", "", "list: include deleted runs"},
                       {"--payload", "JSON|@FILE", "submit: the payload for the worker"},
                       {"--key", "KEY", "submit: idempotency key"},
                       {"--priority", "N", "submit: higher runs first"},
                       {"--delay", "DURATION", "submit: delay before the first attempt"},
                       {"--attempts", "N", "submit, limit: maximum number of attempts"},
                       {"--reason", "TEXT", "delete: the reason"},
                       {"--concurrency", "N", "limit: maximum number of leased runs"},
                       {"--rate", "N", "limit: maximum number of leases per --per"},
                       {"--per", "DURATION", "limit: the window of --rate (default 1s)"},
                       {"--by", "EXPRESSION", "limit: count separately by this key of the payload"},
                       {"--lease", "DURATION", "limit: length of a lease"},
                       {"--backoff", "DURATION", "limit: delay before the second attempt"}}),
      {"cairn runs --status failed", "cairn runs submit billing.charge.v1 --payload '{\"amount\": 12}' --key order-7",
       "cairn runs limit billing.charge.v1 --concurrency 5 --by payload.customer"}};
  return spec;
}

int run_runs(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(runs_spec(), args, arguments, out, err)) return *over;
  const std::vector<std::string>& given = arguments.positional();
  const std::string verb = given.empty() ? "list" : given[0];
  if (std::find(std::begin(run_verbs), std::end(run_verbs), verb) == std::end(run_verbs))
    return wrong_call(
        "runs",
        "'" + verb + "' is unknown; use list, show, events, submit, cancel, delete, types, pause, resume or limit",
        err);
  const bool alone = verb == "list" || verb == "types";
  if (alone ? given.size() > 1 : given.size() != 2)
    return wrong_call("runs", alone ? verb + " takes flags only" : verb + " takes one run or type", err);
  if (verb == "list") return list(arguments, out, err);
  if (verb == "types" || verb == "events") {
    auto opened = ApiSession::open("runs", arguments, ApiSession::Use::read, err);
    if (const int* code = std::get_if<int>(&opened)) return *code;
    return print_listing(*std::get<0>(opened), verb == "types" ? all_types() : events_of_run(given[1]), arguments, out,
                         err);
  }

  const bool look = verb == "show";
  const bool of_type = verb == "pause" || verb == "resume" || verb == "limit";
  ApiRequest request{look ? "GET" : "POST", "/v1/runs"};
  if (verb == "show" || verb == "delete") request.path += "/" + path_part(given[1]);
  if (verb == "cancel") request.path += "/" + path_part(given[1]) + "/cancel";
  if (verb == "delete") {
    request.method = "DELETE";
    request.query.emplace_back("reason", arguments.value("--reason").value_or(""));
    if (!arguments.has("--reason")) return wrong_call("runs", "delete needs --reason", err);
  }
  if (verb == "submit") {
    request.body = Json::object({{"type", given[1]}});
    auto payload = read_json_argument(arguments.value("--payload").value_or("null"), in);
    if (!payload) return fail("runs", payload.error(), err);
    request.body.set("payload", std::move(*payload));
    if (const auto key = arguments.value("--key")) request.body.set("idempotency_key", *key);
    if (const auto delay = arguments.value("--delay")) request.body.set("delay", *delay);
    for (const auto& [flag, member] : {std::pair("--priority", "priority"), std::pair("--attempts", "max_attempts")}) {
      const auto value = arguments.value(flag);
      if (!value) continue;
      const auto count = parse_json(*value);
      if (!count || !count->is_integer()) return wrong_call("runs", std::string(flag) + " takes a number", err);
      request.body.set(member, *count);
    }
  }
  auto opened = ApiSession::open("runs", arguments, look ? ApiSession::Use::read : ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& session = *std::get<0>(opened);
  if (of_type) {
    auto body = type_document(session, verb, arguments);
    if (!body) return fail("runs", body.error(), err);
    request = {"PUT", "/v1/run-types/" + path_part(given[1]), {}, std::move(*body)};
  }
  const auto answer = session.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& document = std::get<0>(answer).body;
  if (arguments.has("--json") || look) {
    out << (arguments.has("--json") ? write_json(document) : write_json_pretty(document)) << "\n";
    return exit_done;
  }
  if (of_type) {
    out << given[1] << (document["paused"] == Json(true) ? " is paused" : " is active") << "\n";
  } else {
    out << document.text_or("id", "") << " " << (verb == "delete" ? "deleted" : document.text_or("status", "")) << "\n";
  }
  return exit_done;
}

}  // namespace cairn::cli
