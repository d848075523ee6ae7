#include "cli/commands.h"

#include "cli/exit_code.h"
#include "cli/store_session.h"
#include "upkeep/verify.h"

namespace cairn::cli {

const CommandSpec& verify_spec() {
  static const CommandSpec spec{
      "verify",
      "--store URL [--json]",
      "Check every invariant of a store's contents",
      "Prints one line per violation, with the name of the invariant. Exit code 1: there are violations.",
      {store_flag, json_flag},
      {"cairn verify --store sqlite:orders.db"}};
  return spec;
}

int run_verify(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(verify_spec(), args, arguments, out, err)) return *over;
  auto opened = StoreSession::open("verify", arguments, StoreSession::Use::read, err);
  if (const int* code = std::get_if<int>(&opened)) return *code;
  StoreSession& session = *std::get<0>(opened);
  const auto report = verify_store(session.store());
  if (!report) return fail("verify", report.error(), err);
  if (arguments.has("--json")) {
    Json findings = Json::array();
    for (const Finding& finding : report->findings) {
      findings.push_back(
          Json::object({{"invariant", finding.invariant}, {"subject", finding.subject}, {"message", finding.message}}));
    }
    out << write_json(Json::object({{"findings", findings},
                                    {"instances", static_cast<std::int64_t>(report->instances)},
                                    {"tasks", static_cast<std::int64_t>(report->tasks)},
                                    {"runs", static_cast<std::int64_t>(report->runs)}}))
        << "\n";
  } else {
    for (const Finding& finding : report->findings) {
      out << finding.invariant << ": " << finding.subject << ": " << finding.message << "\n";
    }
    out << report->instances << " instances, " << report->tasks << " tasks, " << report->runs << " runs: "
        << (report->findings.empty() ? "all invariants hold" : std::to_string(report->findings.size()) + " findings")
        << "\n";
  }
  return report->findings.empty() ? exit_done : exit_failed;
}

}  // namespace cairn::cli
