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

#include "scenario/rehearsal.h"

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

// Where a scenario is played: in memory (`run_scenario` below), or on a coordinator and a store.
class Stage {
 public:
  virtual ~Stage() = default;

  virtual Result<void> start(const InstanceId& id) = 0;
  // The oldest open task of that name.
  virtual Result<void> answer(const std::string& task, const std::string& by, const Json& payload) = 0;
  virtual Result<void> signal(const std::string& id, const std::string& name, const Json& key, const Json& payload) = 0;
  virtual Result<void> reply(const CallReply& reply) = 0;
  // An operator's request to the instance.
  virtual Result<void> request(EventBody what) = 0;
  // Fires the earliest timer or retry; the clock jumps there. False: there is none (before `until`, if given).
  virtual Result<bool> fire_next(std::optional<Timestamp> until) = 0;
  virtual void move_clock(Timestamp to) = 0;
  virtual Timestamp now() const = 0;
  // What `expect` can name: status, state, waits, tasks, ...
  virtual Json show(const std::string& what) = 0;
};

// What differs from the expectations of `scenario`: FILE:LINE: what was expected and what came.
std::vector<std::string> play(const Scenario& scenario, Stage& stage);

ScenarioOutcome run_scenario(const Scenario& scenario, bool restart_at_every_commit);

// How `actual` differs from `expected`, or nothing. Objects may have more members than expected; lists
// have as many items; numbers are equal by value. `place` begins the message.
std::optional<std::string> find_difference(const Json& expected, const Json& actual, const std::string& place);

}  // namespace cairn
