// Lives random cases and writes their records, one line each.
//   drive_cases --workflows A..B [--environments N] [--only WORKFLOW,ENVIRONMENT]
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include "base/log.h"
#include "case_world.h"

namespace cairn::sim {
namespace {

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> pair_of(std::string_view text, std::string_view between) {
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto first = number(text.substr(0, at));
  const auto second = number(text.substr(at + between.size()));
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

bool live(std::uint64_t workflow_seed, std::uint64_t environment_seed) {
  const GeneratedCase made = generate_case(workflow_seed);
  CaseWorld world(made, environment_seed);
  const auto record = world.live();
  if (!record) {
    std::fprintf(stderr, "workflow seed %llu, environment seed %llu: %s\n",
                 static_cast<unsigned long long>(workflow_seed), static_cast<unsigned long long>(environment_seed),
                 record.error().message.c_str());
    return false;
  }
  std::puts(write_json(*record).c_str());
  return true;
}

int run(int count, char** arguments) {
  std::pair<std::uint64_t, std::uint64_t> workflows = {1, 100};
  std::uint64_t environments = 1;
  bool single = false;
  std::pair<std::uint64_t, std::uint64_t> only{};
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view flag = arguments[i];
    const std::string_view given = arguments[i + 1];
    if (flag == "--workflows" && pair_of(given, "..")) {
      workflows = *pair_of(given, "..");
    } else if (flag == "--environments" && number(given)) {
      environments = *number(given);
    } else if (flag == "--only" && pair_of(given, ",")) {
      only = *pair_of(given, ",");
      single = true;
    } else {
      std::fprintf(stderr, "drive_cases: what is %s %s?\n", arguments[i], arguments[i + 1]);
      return 2;
    }
  }
  if (single) return live(only.first, only.second) ? 0 : 1;
  bool good = true;
  for (std::uint64_t workflow = workflows.first; workflow <= workflows.second; ++workflow) {
    for (std::uint64_t environment = 1; environment <= environments; ++environment) {
      good = live(workflow, environment) && good;
    }
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace cairn::sim

int main(int count, char** arguments) { return cairn::sim::run(count, arguments); }
