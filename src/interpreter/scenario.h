// Scenarios: a definition, what happens to an instance of it, and what must be true in between
// (docs/testing.md). Read from YAML or JSON; run with virtual time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/rehearsal.h"

namespace cairn {

struct ScenarioStep {
  std::string kind;  // answer, signal, reply, clock, next_timer, cancel, ...; empty: only an expectation
  Json value;
  Json refused;  // true, or a part of the message: the event must be refused
  Json expect;
  int line = 0;
};

struct Scenario {
  std::string file;
  std::string name;
  int line = 0;
  std::shared_ptr<const Program> program;
  std::shared_ptr<const DefinitionIndex> known;
  Json input = Json::object();
  std::optional<Reference> reference;
  Json config = Json::object();
  Limits limits;
  Timestamp begins_at;
  bool calls_fail = false;  // a call without a reply fails at once, as in `cairn run`
  std::vector<CallReply> replies;
  std::vector<ScenarioStep> steps;
};

// Reads a file that a scenario names; paths are relative to the scenario's own file.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Every scenario of a file, with its definitions loaded. The message names the place.
Result<std::vector<Scenario>> read_scenarios(std::string_view text, const std::string& file, const ReadFile& read);

struct ScenarioOutcome {
  std::vector<std::string> problems;    // FILE:LINE: what was expected and what came; empty: it passed
  std::vector<std::string> commits;     // the bytes of every commit, in order
  std::map<std::string, Trace> traces;  // by digest
};

ScenarioOutcome run_scenario(const Scenario& scenario, bool restart_at_every_commit);

// How `actual` differs from `expected`, or nothing. Objects may have more members than expected; lists
// have as many items; numbers are equal by value. `place` begins the message.
std::optional<std::string> find_difference(const Json& expected, const Json& actual, const std::string& place);

}  // namespace cairn
