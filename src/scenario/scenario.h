// src/scenario runs definitions in memory with virtual time: `cairn run`, `cairn test` and the scenario files of
// tests/scenarios. It uses src/interpreter and what that uses; it has no store, no threads and no real clock. A
// scenario is a definition, the events sent to one instance of it, and the expectations in between (docs/testing.md).
// Scenario files are YAML or JSON. Read `run_scenario` in this file first, then Rehearsal in rehearsal.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/rehearsal.h"

namespace cairn {

struct ScenarioStep {
  std::string kind;  // answer, signal, reply, clock, next_timer, cancel, ...; empty: an expectation only
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

// Reads a file that a scenario names. Paths are relative to the scenario's file.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Reads every scenario of a file and loads its definitions. An error names the place.
Result<std::vector<Scenario>> read_scenarios(std::string_view text, const std::string& file, const ReadFile& read);

struct ScenarioOutcome {
  std::vector<std::string> problems;    // FILE:LINE: expected and actual; empty: the scenario passed
  std::vector<std::string> commits;     // the bytes of every commit, in order
  std::map<std::string, Trace> traces;  // by digest
};

// Where a scenario runs: in memory (`run_scenario` below), or on an engine with a store.
class Stage {
 public:
  virtual ~Stage() = default;

  virtual Result<void> start(const InstanceId& id) = 0;
  // Answers the oldest open task of that name.
  virtual Result<void> answer(const std::string& task, const std::string& by, const Json& payload) = 0;
  // ErrorCode::conflict if the instance has ended, as a server says it.
  virtual Result<void> signal(const SignalReceived& signal, std::optional<Duration> ttl) = 0;
  virtual Result<void> reply(const CallReply& reply) = 0;
  // An operator's request to the instance.
  virtual Result<void> request(EventBody what) = 0;
  // Fires the earliest timer or retry and moves the clock there. False if there is none (before `until`, if given).
  virtual Result<bool> fire_next(std::optional<Timestamp> until) = 0;
  virtual void move_clock(Timestamp to) = 0;
  virtual Timestamp now() const = 0;
  // The value that `expect` can name: status, state, waits, tasks, ...
  virtual Json show(const std::string& what) = 0;
};

// Runs `scenario` on `stage` and answers the failed expectations as FILE:LINE: expected and actual.
std::vector<std::string> play(const Scenario& scenario, Stage& stage);

ScenarioOutcome run_scenario(const Scenario& scenario, bool restart_at_every_commit);

// How `actual` differs from `expected`; empty if it matches. Objects may have additional members, lists must have the
// same length, numbers compare by value. `place` begins the message.
std::optional<std::string> find_difference(const Json& expected, const Json& actual, const std::string& place);

}  // namespace cairn
