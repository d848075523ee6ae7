#include "cli/commands.h"

#include <filesystem>

#include "base/limits.h"
#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/instance_answer.h"
#include "cli/store_session.h"

namespace cairn::cli {
namespace {

// The exit code for the end of an instance, for --wait.
int exit_code_of_end(std::string_view status) {
  if (status == "completed") return exit_done;
  return status == "running" || status == "waiting" ? exit_timed_out : exit_not_completed;
}

}  // namespace

const CommandSpec& start_spec() {
  static const CommandSpec spec{
      "start",
      "NAME|FILE [--input JSON|@FILE] [--version V] [--key KEY] [--id ID] [--wait DURATION]",
      "Start an instance",
      "A FILE is deployed first. On a local store the instance runs until it waits; a server or the next command\n"
      "continues it. With --wait the exit code is 0 if it completed, 5 if it ended otherwise, 124 if it still runs.",
      with_api_flags({{"--input", "JSON|@FILE", "the start payload (default {})"},
                      {"--version", "V", "exactly this version (default: the newest)"},
                      {"--key", "KEY", "idempotency key: repeats with the same key start nothing"},
                      {"--id", "ID", "the id of the new instance"},
                      {"--wait", "DURATION", "wait for the end, at most this long (up to 60s)"},
                      as_json_flag}),
      {"cairn start order --input '{\"amount\": 12}' --server http://127.0.0.1:8400",
       "cairn start order.yaml --store sqlite:orders.db", "cairn start order --wait 30s"}};
  return spec;
}

int run_start(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(start_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().size() != 1) return wrong_call("start", "name one definition or file", err);
  std::string name = arguments.positional()[0];
  std::optional<std::string> version = arguments.value("--version");
  ApiRequest request{"POST", "/v1/instances"};
  request.body = Json::object();
  if (const auto input = arguments.value("--input")) {
    auto json = read_json_argument(*input, in);
    if (!json) return fail("start", json.error(), err);
    request.body.set("input", std::move(*json));
  }
  auto opened = ApiSession::open("start", arguments, ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& api = *std::get<0>(opened);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored)) {
    auto text = read_input(name, in, Limits().definition_bytes_max);
    if (!text) return fail("start", text.error(), err);
    ApiRequest deploy{"POST", "/v1/definitions"};
    deploy.text = std::move(*text);
    deploy.content_type = "application/yaml";
    const auto deployed = api.ask(deploy, err);
    if (const int* code = std::get_if<int>(&deployed)) return *code;
    name = std::string(std::get<0>(deployed).body.text_or("name", ""));
    if (!version) version = std::string(std::get<0>(deployed).body.text_or("version", ""));
  }
  request.body.set("definition", name);
  if (version) request.body.set("version", *version);
  if (const auto id = arguments.value("--id")) request.body.set("id", *id);
  if (const auto key = arguments.value("--key")) request.headers.emplace_back("idempotency-key", *key);
  if (const auto wait = arguments.value("--wait")) request.query.emplace_back("wait", *wait);
  const auto answer = api.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) {
    if (*code == exit_not_found) err << "`cairn definitions" << api.flags() << "` lists the definitions.\n";
    return *code;
  }
  const Json& started = std::get<0>(answer).body;
  print_answer(arguments, started, out);
  if (started["status"] == Json("suspended"))
    err << "`cairn why " << started.text_or("id", "") << api.flags() << "` explains what stopped it.\n";
  if (!arguments.has("--wait")) return exit_done;
  const std::string_view status = started.text_or("status", "");
  if (const Json& error = started["error"]; error.is_object())
    err << "cairn start: " << error.text_or("code", "") << ": " << error.text_or("message", "") << "\n";
  return exit_code_of_end(status);
}

}  // namespace cairn::cli
