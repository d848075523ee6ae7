#include "cli/commands.h"

#include <algorithm>

#include "cli/definition_files.h"
#include "cli/exit_code.h"
#include "cli/findings.h"
#include "cli/input_file.h"
#include "definition/definition.h"

namespace cairn::cli {
namespace {

Json json_of(const Diagnostic& diagnostic) {
  return Json::object({{"severity", diagnostic.severity == Diagnostic::Severity::error ? "error" : "warning"},
                       {"line", diagnostic.line},
                       {"column", diagnostic.column},
                       {"message", diagnostic.message},
                       {"pointer", diagnostic.pointer}});
}

Json json_of(const std::string& file, const Definition& definition) {
  Json findings = Json::array();
  for (const Diagnostic& diagnostic : definition.diagnostics) findings.push_back(json_of(diagnostic));
  Json entry = Json::object({{"file", file}, {"valid", definition.valid()}, {"findings", std::move(findings)}});
  if (definition.valid()) {
    entry.set("name", definition.program->name);
    entry.set("version", definition.program->version);
    entry.set("digest", definition.digest);
  }
  return entry;
}

// The results of `cairn validate` so far.
class Validation {
 public:
  Validation(std::istream& in, std::ostream& out, std::ostream& err, bool as_json)
      : in_(in), out_(out), err_(err), as_json_(as_json) {}

  void check(const std::string& file) {
    const Limits limits;
    const auto text = read_input(file, in_, limits.definition_bytes_max);
    if (text) return report(file, *text, load_definition(*text, file, limits));
    if (text.error().code != ErrorCode::limit) return unreadable(text.error());
    Definition too_large;
    too_large.diagnostics.push_back(
        {Diagnostic::Severity::error, 1, 1,
         "the file is larger than the limit of " + std::to_string(limits.definition_bytes_max) + " bytes", ""});
    report(file, "", too_large);
  }

  void unreadable(const Error& error) {
    unreadable_ = true;
    err_ << "cairn validate: " << error.message << "\n";
  }

  int finish() {
    const int code = unreadable_ ? exit_usage : invalid_ ? exit_invalid : exit_done;
    if (as_json_) {
      out_ << write_json_pretty(Json::object({{"valid", code == exit_done}, {"files", files_}})) << "\n";
    }
    return code;
  }

 private:
  void report(const std::string& file, std::string_view text, const Definition& definition) {
    invalid_ = invalid_ || !definition.valid();
    if (as_json_) {
      files_.push_back(json_of(file, definition));
      return;
    }
    print_findings(file, text, definition.diagnostics, err_);
    if (definition.valid()) out_ << file << ": valid\n";
  }

  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  bool as_json_;
  bool invalid_ = false;
  bool unreadable_ = false;
  Json files_ = Json::array();
};

}  // namespace

const CommandSpec& validate_spec() {
  static const CommandSpec spec{
      "validate",
      "FILE… [--json]",
      "Check definitions and report all errors",
      "Each FILE is a definition in YAML or JSON, a folder of them (*.yaml, *.yml, *.json, without *.test.yaml),\n"
      "or - for standard input. Findings are printed on standard error as FILE:LINE:COL: error: MESSAGE [POINTER],\n"
      "each with its source line. Warnings do not change the exit code. Exit codes: 0 all valid, 8 some invalid, 2\n"
      "usage error or unreadable file.",
      {{"--json", "", "print one JSON document with all findings on standard output instead"}},
      {"cairn validate loan.yaml", "cairn validate workflows/", "cairn validate --json loan.yaml",
       "cat loan.yaml | cairn validate -"}};
  return spec;
}

int run_validate(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(validate_spec(), args, arguments, out, err)) return *over;
  const std::vector<std::string>& paths = arguments.positional();
  const auto wrong_call = [&](std::string_view what) {
    err << "cairn validate: " << what << "\n`cairn validate --help` shows examples.\n";
    return exit_usage;
  };
  if (paths.empty()) return wrong_call("name at least one file");
  if (std::count(paths.begin(), paths.end(), "-") > 1) return wrong_call("standard input can only be read once");

  Validation validation(in, out, err, arguments.has("--json"));
  for (const std::string& path : paths) {
    const auto files = definition_files(path);
    if (!files) {
      validation.unreadable(files.error());
      continue;
    }
    for (const std::string& file : *files) validation.check(file);
  }
  return validation.finish();
}

}  // namespace cairn::cli
