#include "api/upkeep_reports.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/upkeep_report.h"

namespace cairn::cli {

const CommandSpec& verify_spec() {
  static const CommandSpec spec{
      "verify",
      "[--json]",
      "Check every invariant of a store's contents",
      "Prints one line per violation, with the name of the invariant. Exit code 1: there are violations.",
      with_api_flags({as_json_flag}),
      {"cairn verify --store sqlite:orders.db", "cairn verify --server https://cairn.example"}};
  return spec;
}

int run_verify(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(verify_spec(), args, arguments, out, err)) return *over;
  const auto answer = upkeep_report(
      "verify", "/v1/verify", [](Store& store) { return api::verify_report(store); }, arguments, err);
  if (const int* code = std::get_if<int>(&answer)) return *code;
  const Json& report = std::get<Json>(answer);
  const Json::Array& findings = report["findings"].items();
  if (arguments.has("--json")) {
    out << write_json(report) << "\n";
  } else {
    for (const Json& finding : findings) {
      out << finding.text_or("invariant", "") << ": " << finding.text_or("subject", "") << ": "
          << finding.text_or("message", "") << "\n";
    }
    out << write_json(report["instances"]) << " instances, " << write_json(report["tasks"]) << " tasks, "
        << write_json(report["runs"])
        << " runs: " << (findings.empty() ? "all invariants hold" : std::to_string(findings.size()) + " findings")
        << "\n";
  }
  return findings.empty() ? exit_done : exit_failed;
}

}  // namespace cairn::cli
