#include "cli/commands.h"

#include "base/time.h"
#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/instance_answer.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& signal_spec() {
  static const CommandSpec spec{
      "signal",
      "[ID] NAME [--key KEY] [--payload JSON|@FILE] [--id SIGNAL] [--ttl DURATION] | ID --discard SIGNAL",
      "Send a signal to one instance, or to all instances that wait for its name and key",
      "A signal that no step takes is kept: for --ttl, else as the definition says, else for ever. `cairn signals` "
      "lists\n"
      "kept signals.",
      with_api_flags({{"--key", "KEY", "the key"},
                      {"--payload", "JSON|@FILE", "the payload (default null)"},
                      {"--id", "SIGNAL", "the id of the signal: repeats with the same id are ignored"},
                      {"--ttl", "DURATION", "how long it is kept; then it becomes a dead letter"},
                      {"--discard", "SIGNAL", "discard the kept signal with this id"},
                      {"--reason", "TEXT", "--discard: the reason, for the history"},
                      {"--if-state-version", "N", "to one instance: fail if it has another state version"},
                      as_json_flag}),
      {"cairn signal paid --key 42 --payload '{\"amount\": 12}' --server http://127.0.0.1:8400"}};
  return spec;
}

int run_signal(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(signal_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  if (const auto discarded = arguments.value("--discard")) {
    if (given.size() != 1) return wrong_call("signal", "--discard takes an instance id", err);
    auto session = ApiSession::open("signal", arguments, ApiSession::Use::change, err);
    if (const int* code = std::get_if<int>(&session)) return *code;
    ApiRequest discard{"DELETE", "/v1/instances/" + path_part(given[0]) + "/signals/" + path_part(*discarded)};
    if (const auto reason = arguments.value("--reason")) discard.query.emplace_back("reason", *reason);
    const auto done = std::get<0>(session)->ask(discard, err);
    if (const int* code = std::get_if<int>(&done)) return *code;
    return print_answer(arguments, std::get<0>(done).body, out);
  }
  if (given.empty() || given.size() > 2)
    return wrong_call("signal", "give the name of a signal, and before it the instance ID if it is for one instance",
                      err);
  const bool to_one = given.size() == 2;
  ApiRequest request{"POST", to_one ? "/v1/instances/" + path_part(given[0]) + "/signals" : "/v1/signals"};
  request.body = Json::object({{"name", given.back()}});
  if (const auto id = arguments.value("--id")) request.body.set("id", *id);
  if (const auto key = arguments.value("--key")) request.body.set("key", *key);
  if (const auto payload = arguments.value("--payload")) {
    auto json = read_json_argument(*payload, in);
    if (!json) return fail("signal", json.error(), err);
    request.body.set("payload", std::move(*json));
  }
  const auto ttl = arguments.value("--ttl");
  if (ttl) {
    if (const auto length = parse_duration(*ttl); !length)
      return wrong_call("signal", "--ttl: " + length.error().message, err);
    request.body.set("ttl", *ttl);
  }
  if (const auto version = arguments.value("--if-state-version")) request.headers.emplace_back("if-match", *version);
  auto opened = ApiSession::open("signal", arguments, ApiSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  const auto answer = std::get<0>(opened)->ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& outcome = std::get<0>(answer).body;
  if (to_one || arguments.has("--json")) return print_answer(arguments, outcome, out);
  const std::size_t delivered = outcome["instances"].is_array() ? outcome["instances"].size() : 0;
  if (outcome["repeated"] == Json(true)) {
    out << "the signal was already sent\n";
  } else if (outcome["kept"] == Json(true)) {
    out << "no instance waits for it yet; it is kept" << (ttl ? " for " + *ttl : std::string()) << "\n";
  } else {
    out << "delivered to " << delivered << (delivered == 1 ? " instance\n" : " instances\n");
  }
  return exit_done;
}

}  // namespace cairn::cli
