// cairn_sim: runs worlds, reports what they reached and how to reproduce a failure.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/log.h"
#include "coverage.h"
#include "isolation.h"
#include "shrink.h"

namespace cairn::sim {

namespace {

struct Options {
  std::uint64_t first = 1;
  std::uint64_t last = 300;
  double minutes = 0;
  std::string plan;
  std::string list;     // a file of seeds
  std::string records;  // where the judge's records go
  bool trace = false;
  bool twice = false;
  bool shrinks = true;
  bool quiet = false;
  bool until_failure = false;  // only says which seed failed first
};

struct Totals {
  std::uint64_t worlds = 0;
  std::uint64_t commits = 0;
  std::uint64_t crashes = 0;
  std::uint64_t steps = 0;
  double virtual_hours = 0;
  std::map<std::string, std::uint64_t> reached;
  std::uint64_t failures = 0;
};

std::uint64_t number(const char* text) {
  std::uint64_t value = 0;
  std::from_chars(text, text + std::strlen(text), value);
  return value;
}

bool read_options(int count, char** given, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string flag = given[i];
    const char* value = i + 1 < count ? given[i + 1] : nullptr;
    if (flag == "--trace") {
      options.trace = true;
    } else if (flag == "--twice") {
      options.twice = true;
    } else if (flag == "--no-shrink") {
      options.shrinks = false;
    } else if (flag == "--until-failure") {
      options.until_failure = true;
    } else if (flag == "--quiet") {
      options.quiet = true;
    } else if (value == nullptr) {
      return false;
    } else if (flag == "--seed") {
      options.first = options.last = number(given[++i]);
    } else if (flag == "--seeds") {
      const char* dots = std::strstr(value, "..");
      if (dots == nullptr) return false;
      options.first = number(std::string(value, dots).c_str());
      options.last = number(dots + 2);
      ++i;
    } else if (flag == "--count") {
      // The first one can differ from commit to commit, so that the tests see new worlds.
      const char* first = std::getenv("CAIRN_SIM_FIRST");
      options.first = first ? number(first) : 1;
      options.last = options.first + number(given[++i]) - 1;
    } else if (flag == "--jobs") {
      set_jobs(number(given[++i]));
    } else if (flag == "--minutes") {
      options.minutes = std::atof(given[++i]);
    } else if (flag == "--plan") {
      options.plan = given[++i];
    } else if (flag == "--records") {
      options.records = given[++i];
    } else if (flag == "--list") {
      options.list = given[++i];
    } else {
      return false;
    }
  }
  return true;
}

void add(Totals& totals, const WorldOutcome& outcome) {
  ++totals.worlds;
  totals.commits += outcome.commits;
  totals.crashes += outcome.crashes;
  totals.steps += outcome.steps;
  totals.virtual_hours += static_cast<double>(outcome.virtual_ms) / 3'600'000.0;
  for (const auto& [what, count] : outcome.reached) totals.reached[what] += count;
}

void tell_failure(const Plan& plan, const WorldOutcome& outcome, bool shrinks) {
  std::printf("\nFAILED seed %llu\n  %s: %s\n", static_cast<unsigned long long>(plan.seed),
              outcome.violation->invariant.c_str(), outcome.violation->message.c_str());
  std::printf("  plan: %s\n", write_plan(plan).c_str());
  Plan smallest = plan;
  WorldOutcome shown = outcome;
  if (shrinks) {
    const Shrunk shrunk = shrink(plan, outcome.violation->invariant, 120);
    smallest = shrunk.plan;
    shown = run_isolated(smallest);
    std::printf("  smaller, after %d tries: %s\n", shrunk.tries, write_plan(smallest).c_str());
  }
  std::printf("  the last events:\n");
  for (const std::string& line : shown.last) std::printf("    %s\n", line.c_str());
  std::printf("  see it again: ./dev sim --seed %llu --plan '%s' --trace\n", static_cast<unsigned long long>(plan.seed),
              write_plan(smallest).c_str());
  std::fflush(stdout);
}

void print_totals(const Totals& totals, double seconds) {
  std::printf("%llu worlds, %llu failed, %llu commits, %llu crashes, %llu steps, %.0f virtual hours, %.0f s\n",
              static_cast<unsigned long long>(totals.worlds), static_cast<unsigned long long>(totals.failures),
              static_cast<unsigned long long>(totals.commits), static_cast<unsigned long long>(totals.crashes),
              static_cast<unsigned long long>(totals.steps), totals.virtual_hours, seconds);
}

void print_coverage(const Totals& totals) {
  std::string group;
  for (const auto& [what, count] : totals.reached) {
    const std::string kind = what.substr(0, what.find(' '));
    if (kind != group) std::printf("%s%s:", group.empty() ? "" : "\n", kind.c_str());
    group = kind;
    std::printf(" %s=%llu", what.substr(kind.size() + 1).c_str(), static_cast<unsigned long long>(count));
  }
  std::printf("\n");
  const std::vector<std::string> names = missing(totals.reached);
  if (names.empty()) return;
  std::printf("never reached:");
  for (const std::string& name : names) std::printf(" [%s]", name.c_str());
  std::printf("\n");
}

// One world per line: its seed and its plan. Text after # is a comment.
std::vector<Plan> plans_of(const std::string& file) {
  std::vector<Plan> plans;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    const std::uint64_t seed = number(line.substr(0, space).c_str());
    if (space == std::string::npos) {
      plans.push_back(plan_of(seed));
    } else if (auto plan = read_plan(seed, line.substr(space + 1))) {
      plans.push_back(*plan);
    } else {
      std::fprintf(stderr, "%s: %s\n", file.c_str(), plan.error().message.c_str());
      std::exit(2);
    }
  }
  return plans;
}

int run_traced(const Plan& plan) {
  LogSettings log;
  log.level = LogLevel::warning;
  log.write = [](std::string_view line) { std::printf("    log %.*s\n", static_cast<int>(line.size()), line.data()); };
  configure_log(std::move(log));
  const auto before = std::filesystem::current_path();
  enter_folder();
  auto* world = new World(plan, true);
  const WorldOutcome outcome = world->run();
  const auto folder = std::filesystem::current_path();
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
  std::printf("hash %016llx\n", static_cast<unsigned long long>(outcome.hash));
  if (!outcome.violation) return 0;
  std::printf("%s: %s\n", outcome.violation->invariant.c_str(), outcome.violation->message.c_str());
  std::fflush(stdout);
  return 1;
}

int run_until_failure(const Options& options) {
  constexpr std::uint64_t batch = 16;
  for (std::uint64_t from = options.first; from <= options.last; from += batch) {
    std::vector<Plan> worlds;
    for (std::uint64_t seed = from; seed < from + batch && seed <= options.last; ++seed)
      worlds.push_back(plan_of(seed));
    std::map<std::uint64_t, Violation> failed;
    run_isolated(worlds, [&](std::size_t index, const WorldOutcome& outcome) {
      if (outcome.violation) failed[worlds[index].seed] = *outcome.violation;
    });
    if (failed.empty()) continue;
    const auto& [seed, violation] = *failed.begin();
    std::printf("first failure: seed %llu: %s: %s\n", static_cast<unsigned long long>(seed),
                violation.invariant.c_str(), violation.message.c_str());
    return 1;
  }
  return 0;
}

int run(const Options& options) {
  if (options.until_failure) return run_until_failure(options);
  if (options.trace) {
    Plan plan = plan_of(options.first);
    if (!options.plan.empty()) {
      auto given = read_plan(options.first, options.plan);
      if (!given) {
        std::fprintf(stderr, "%s\n", given.error().message.c_str());
        return 2;
      }
      plan = *given;
    }
    const int code = run_traced(plan);
    std::fflush(stdout);
    std::_Exit(code);
  }
  const auto begun = std::chrono::steady_clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  constexpr std::size_t failures_shown = 5;
  Totals totals;
  std::optional<std::ofstream> records;
  if (!options.records.empty()) records.emplace(options.records);
  std::uint64_t next = options.first;
  for (;;) {
    std::vector<Plan> worlds;
    if (!options.list.empty()) {
      worlds = plans_of(options.list);
    } else if (!options.plan.empty()) {
      auto given = read_plan(options.first, options.plan);
      if (!given) {
        std::fprintf(stderr, "%s\n", given.error().message.c_str());
        return 2;
      }
      worlds.push_back(*given);
    } else {
      for (int i = 0; i < 200 && (options.minutes > 0 || next <= options.last); ++i) worlds.push_back(plan_of(next++));
    }
    if (records) {
      for (Plan& plan : worlds) plan = recorded(plan);
    }
    std::map<std::size_t, std::uint64_t> hashes;
    std::vector<std::pair<std::size_t, WorldOutcome>> failed;
    run_isolated(worlds, [&](std::size_t index, const WorldOutcome& outcome) {
      add(totals, outcome);
      hashes[index] = outcome.hash;
      if (records && !outcome.record.is_null()) *records << write_json(outcome.record) << "\n";
      if (outcome.violation) failed.emplace_back(index, outcome);
    });
    if (options.twice) {
      run_isolated(worlds, [&](std::size_t index, const WorldOutcome& outcome) {
        if (outcome.hash == hashes[index]) return;
        WorldOutcome differs = outcome;
        differs.violation = Violation{"determinism", "the same seed gave another trace the second time"};
        failed.emplace_back(index, differs);
      });
    }
    for (const auto& [index, outcome] : failed) {
      ++totals.failures;
      if (totals.failures <= failures_shown) tell_failure(worlds[index], outcome, options.shrinks && !options.twice);
    }
    const bool over = options.minutes > 0 ? seconds() >= options.minutes * 60
                                          : !options.list.empty() || !options.plan.empty() || next > options.last;
    if (over || totals.failures >= failures_shown) break;
    if (options.minutes > 0 && !options.quiet) print_totals(totals, seconds());
  }
  print_totals(totals, seconds());
  if (!options.quiet) print_coverage(totals);
  return totals.failures == 0 ? 0 : 1;
}

}  // namespace

}  // namespace cairn::sim

int main(int count, char** given) {
  cairn::sim::Options options;
  if (!cairn::sim::read_options(count, given, options)) {
    std::fprintf(stderr,
                 "cairn_sim [--seed N | --seeds A..B | --count N | --minutes M | --list FILE] [--plan TEXT] [--trace] "
                 "[--twice]\n"
                 "          [--no-shrink] [--quiet] [--until-failure] [--records FILE] [--jobs N]\n");
    return 2;
  }
  return cairn::sim::run(options);
}
