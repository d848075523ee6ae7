#include "api/upkeep_reports.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/upkeep_report.h"

namespace cairn::cli {

const CommandSpec& doctor_spec() {
  static const CommandSpec spec{
      "doctor",
      "[--json]",
      "Print a health report of a store, with advice for each finding",
      "Exit code 1: something is broken. Warnings do not change the exit code.",
      with_api_flags({as_json_flag}),
      {"cairn doctor --store sqlite:cairn.db", "cairn doctor --server https://cairn.example"}};
  return spec;
}

int run_doctor(std::span<const std::string> args, std::istream&, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(doctor_spec(), args, arguments, out, err)) return *over;
  const auto read = [](Store& store) -> Result<Json> { return api::doctor_report(store); };
  const auto report = upkeep_report("doctor", "/v1/doctor", read, arguments, err);
  if (const int* code = std::get_if<int>(&report)) return *code;
  const Json& document = std::get<Json>(report);
  bool broken = false;
  for (const Json& finding : document["findings"].items()) {
    broken = broken || finding.text_or("grade", "") == "BROKEN";
    if (arguments.has("--json")) continue;
    out << finding.text_or("grade", "") << "\t" << finding.text_or("what", "");
    if (!finding.text_or("advice", "").empty()) out << "\n\t→ " << finding.text_or("advice", "");
    out << "\n";
  }
  if (arguments.has("--json")) out << write_json(document) << "\n";
  return broken ? exit_failed : exit_done;
}

}  // namespace cairn::cli
