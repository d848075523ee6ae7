#include "cli/audit_command.h"

#include "cli/api_session.h"
#include "cli/exit_code.h"
#include "cli/store_session.h"

namespace cairn::cli {

const CommandSpec& audit_spec() {
  static const CommandSpec spec{
      "audit",
      "list | verify [--hash HASH]",
      "Show the audit trail, or check that nobody has changed it",
      "Each row's hash covers the row before. `verify` names the first row that does not fit and prints the last "
      "hash: kept\nelsewhere and given back with --hash, it shows later whether the end was cut off. Exit code 1 when "
      "the trail is broken.",
      with_api_flags({{"--hash", "HASH", "a hash that must stand in the trail"}}),
      {"cairn audit list --store sqlite:cairn.db", "cairn audit verify --hash 9f86d0…"}};
  return spec;
}

int run_audit(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(audit_spec(), args, arguments, out, err)) return *over;
  const std::string verb = arguments.positional().size() == 1 ? arguments.positional()[0] : "";
  if (verb != "list" && verb != "verify") return wrong_call("audit", "say list or verify", err);
  auto opened = ApiSession::open("audit", arguments, ApiSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  ApiSession& session = *std::get<0>(opened);
  if (verb == "list") {
    const auto print = [&](const Json& row) {
      if (arguments.has("--json")) {
        out << write_json(row) << "\n";
      } else {
        out << row.text_or("at", "") << "\t" << row.text_or("who", "") << "\t" << row.text_or("what", "") << "\t"
            << row.text_or("resource", "") << "\t" << row.text_or("why", "") << "\n";
      }
      return true;
    };
    const auto failed = session.each({"GET", "/v1/audit"}, SIZE_MAX, print, err);
    return failed ? *failed : exit_done;
  }
  ApiRequest request{"GET", "/v1/audit/verify"};
  if (const auto hash = arguments.value("--hash")) request.query.emplace_back("hash", *hash);
  auto answer = session.ask(request, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& report = std::get<ApiAnswer>(answer).body;
  const bool intact = report["intact"].is_bool() && report["intact"].as_bool();
  if (arguments.has("--json")) {
    out << write_json(report) << "\n";
  } else if (intact) {
    out << "the audit trail is whole: " << write_json(report["rows"]) << " rows, last hash "
        << report.text_or("last_hash", "") << "\n";
  } else {
    out << "row " << write_json(report["broken_at"]) << ": " << report.text_or("why", "") << "\n";
  }
  return intact ? exit_done : exit_failed;
}

}  // namespace cairn::cli
