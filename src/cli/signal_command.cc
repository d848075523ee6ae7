#include "cli/signal_command.h"

#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& signal_spec() {
  static const CommandSpec spec{
      "signal",
      "[ID] NAME --store URL [--key KEY] [--payload JSON|@FILE] [--id SIGNAL] [--ttl DURATION]",
      "Send a signal to one instance, or to everybody who waits for name and key",
      "Without an instance ID the signal is kept for --ttl (default 1d) when nobody waits for it yet.",
      {store_flag,
       {"--key", "KEY", "the key"},
       {"--payload", "JSON|@FILE", "the payload (default null)"},
       {"--id", "SIGNAL", "the signal's id: a repeat is applied once"},
       {"--ttl", "DURATION", "how long it is kept (default 1d)"},
       json_flag},
      {"cairn signal paid --key 42 --payload '{\"amount\": 12}' --store sqlite:orders.db"}};
  return spec;
}

int run_signal(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(signal_spec(), args, arguments, out, err)) return *over;
  const auto& given = arguments.positional();
  if (given.empty() || given.size() > 2)
    return wrong_call("signal", "give a signal's name, after an instance id if it is for one", err);
  SignalRequest request;
  request.id = arguments.value("--id").value_or("");
  request.name = given.back();
  if (const auto key = arguments.value("--key")) request.key = Json(*key);
  request.actor.name = "cli";
  if (const auto payload = arguments.value("--payload")) {
    auto json = read_json_argument(*payload, in);
    if (!json) return fail("signal", json.error(), err);
    request.payload = std::move(*json);
  }
  const auto ttl = parse_duration(arguments.value("--ttl").value_or("1d"));
  if (!ttl) return wrong_call("signal", "--ttl: " + ttl.error().message, err);
  auto opened = StoreSession::open("signal", arguments, StoreSession::Use::change, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  if (given.size() == 2) {
    const auto answer = session.coordinator().signal({given[0]}, request);
    if (!answer) return fail("signal", answer.error(), err);
    session.coordinator().settle();
    if (arguments.has("--json")) {
      out << write_json(server::document(*answer)) << "\n";
    } else {
      out << answer->instance.value << " " << to_string(answer->status)
          << (answer->repeated ? " (signalled before)" : "") << "\n";
    }
    return exit_done;
  }
  const auto outcome = session.coordinator().broadcast(request, *ttl);
  if (!outcome) return fail("signal", outcome.error(), err);
  session.coordinator().settle();
  if (arguments.has("--json")) {
    Json delivered = Json::array();
    for (const InstanceId& id : outcome->delivered) delivered.push_back(id.value);
    out << write_json(
               Json::object({{"delivered", delivered}, {"kept", outcome->kept}, {"repeated", outcome->duplicate}}))
        << "\n";
  } else if (outcome->duplicate) {
    out << "it was sent before\n";
  } else if (outcome->kept) {
    out << "nobody waits for it yet; kept for " << format_duration_short(*ttl) << "\n";
  } else {
    out << "delivered to " << outcome->delivered.size()
        << (outcome->delivered.size() == 1 ? " instance\n" : " instances\n");
  }
  return exit_done;
}

}  // namespace cairn::cli
