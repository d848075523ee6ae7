#include "cli/commands.h"

#include <algorithm>
#include <filesystem>

#include "cli/exit_code.h"
#include "cli/input_file.h"
#include "scenario/coverage.h"
#include "scenario/scenario.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

// A file stays unchanged; a folder gives all *.test.yaml and *.test.json files in it and below, sorted.
Result<std::vector<std::string>> scenario_files(const std::string& path) {
  std::error_code problem;
  if (!fs::is_directory(path, problem)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator entry(path, problem), end; !problem && entry != end; entry.increment(problem)) {
    const std::string name = entry->path().string();
    if (name.ends_with(".test.yaml") || name.ends_with(".test.yml") || name.ends_with(".test.json"))
      files.push_back(name);
  }
  if (problem) return Error{ErrorCode::not_found, path + ": " + problem.message()};
  if (files.empty()) return Error{ErrorCode::not_found, path + ": contains no scenarios (*.test.yaml)"};
  std::sort(files.begin(), files.end());
  return files;
}

class TestRun {
 public:
  TestRun(std::istream& in, std::ostream& out, std::ostream& err, bool as_json, bool verbose)
      : in_(in), out_(out), err_(err), as_json_(as_json), verbose_(verbose) {}

  void run(const std::string& file) {
    const Limits limits;
    const auto text = read_input(file, in_, limits.definition_bytes_max);
    if (!text) return unreadable(text.error());
    const fs::path folder = fs::path(file).parent_path();
    const auto scenarios = read_scenarios(*text, file, [&](const std::string& name) {
      return read_input((folder / name).string(), in_, limits.definition_bytes_max);
    });
    if (!scenarios) {
      invalid_ = true;
      err_ << scenarios.error().message << "\n";
      return;
    }
    std::size_t passed = 0;
    for (const Scenario& scenario : *scenarios) passed += run(scenario) ? 1 : 0;
    passed_ += passed;
    failed_ += scenarios->size() - passed;
    if (!as_json_) out_ << file << ": " << passed << " of " << scenarios->size() << " passed\n";
  }

  void unreadable(const Error& error) {
    unreadable_ = true;
    err_ << "cairn test: " << error.message << "\n";
  }

  int finish() {
    if (as_json_) {
      out_ << write_json(Json::object({{"coverage", coverage_json()},
                                       {"failed", static_cast<std::int64_t>(failed_)},
                                       {"passed", static_cast<std::int64_t>(passed_)},
                                       {"scenarios", results_}}))
           << "\n";
    } else {
      print_coverage();
      out_ << passed_ << " passed, " << failed_ << " failed\n";
    }
    if (unreadable_) return exit_usage;
    if (invalid_) return exit_invalid;
    return failed_ > 0 ? exit_failed : exit_done;
  }

 private:
  // First in memory, then with the instance discarded and read back after each commit.
  bool run(const Scenario& scenario) {
    const ScenarioOutcome plain = run_scenario(scenario, false);
    std::vector<std::string> problems = plain.problems;
    if (problems.empty()) {
      const ScenarioOutcome restarted = run_scenario(scenario, true);
      for (const std::string& problem : restarted.problems) problems.push_back(problem + " (after a restart)");
      if (problems.empty() && restarted.commits != plain.commits) {
        problems.push_back(scenario.file + ": " + scenario.name + ": a restart changes what is stored");
      }
    }
    // Includes definitions that were never started: coverage must show them.
    for (const std::string& name : scenario.known->names()) {
      for (const std::string& version : scenario.known->versions(name)) {
        const auto program = scenario.known->find(name, version);
        const auto trace = plain.traces.find(program->digest);
        coverage_.add(program, trace == plain.traces.end() ? Trace{} : trace->second);
      }
    }
    for (const std::string& problem : problems) err_ << problem << "\n";
    if (verbose_ && !as_json_) out_ << (problems.empty() ? "  ok      " : "  failed  ") << scenario.name << "\n";
    Json listed = Json::array();
    for (const std::string& problem : problems) listed.push_back(problem);
    results_.push_back(Json::object({{"file", scenario.file},
                                     {"name", scenario.name},
                                     {"passed", problems.empty()},
                                     {"problems", std::move(listed)}}));
    return problems.empty();
  }

  void print_coverage() {
    for (const DefinitionCoverage& one : coverage_.summary()) {
      // "scenario" is the placeholder for a missing name, not a definition.
      if (one.name == "scenario") continue;
      out_ << "coverage " << one.name << " " << one.version << ": " << one.steps_begun << " of " << one.steps
           << " steps, " << one.lanes_entered << " of " << one.lanes << " branches\n";
      for (const std::string& place : one.missed) out_ << "  never entered: " << place << "\n";
    }
  }

  Json coverage_json() const {
    Json list = Json::array();
    for (const DefinitionCoverage& one : coverage_.summary()) {
      Json missed = Json::array();
      for (const std::string& place : one.missed) missed.push_back(place);
      list.push_back(Json::object({{"branches", static_cast<std::int64_t>(one.lanes)},
                                   {"branches_entered", static_cast<std::int64_t>(one.lanes_entered)},
                                   {"missed", std::move(missed)},
                                   {"name", one.name},
                                   {"steps", static_cast<std::int64_t>(one.steps)},
                                   {"steps_begun", static_cast<std::int64_t>(one.steps_begun)},
                                   {"version", one.version}}));
    }
    return list;
  }

  std::istream& in_;
  std::ostream& out_;
  std::ostream& err_;
  bool as_json_;
  bool verbose_;
  bool unreadable_ = false;
  bool invalid_ = false;
  std::size_t passed_ = 0;
  std::size_t failed_ = 0;
  Json results_ = Json::array();
  Coverage coverage_;
};

}  // namespace

const CommandSpec& test_spec() {
  static const CommandSpec spec{
      "test",
      "FILE|DIR… [--json] [-v]",
      "Run scenario files (*.test.yaml) with virtual time",
      "A scenario names a definition, the events of one instance and the expected results; see docs/testing.md.\n"
      "Each runs twice: once in memory, and once with the instance discarded and read back after each commit. Both\n"
      "must pass and store the same bytes. The coverage of steps and branches is printed for each definition.\n"
      "Exit codes: 0 all passed, 1 some failed, 8 invalid file, 2 usage error or unreadable file.",
      {{"--json", "", "print one JSON document with every result and the coverage"},
       {"--verbose", "", "print the name of each scenario", "-v"}},
      {"cairn test loan.test.yaml", "cairn test tests/ -v", "cairn test --json tests/ > results.json"}};
  return spec;
}

int run_test(std::span<const std::string> args, std::istream& in, std::ostream& out, std::ostream& err) {
  Arguments arguments;
  if (const auto over = read_arguments(test_spec(), args, arguments, out, err)) return *over;
  if (arguments.positional().empty()) {
    err << "cairn test: name at least one scenario file or folder\n`cairn test --help` shows examples.\n";
    return exit_usage;
  }
  TestRun run(in, out, err, arguments.has("--json"), arguments.has("--verbose"));
  for (const std::string& path : arguments.positional()) {
    const auto files = scenario_files(path);
    if (!files) {
      run.unreadable(files.error());
      continue;
    }
    for (const std::string& file : *files) run.run(file);
  }
  return run.finish();
}

}  // namespace cairn::cli
