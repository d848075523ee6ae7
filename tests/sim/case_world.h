// The world of one case without faults: one node, a store in memory, a clock that moves only on request. People,
// workers, other systems and operators make sensible and hostile choices, drawn from the environment seed.
#pragma once

#include <memory>
#include <vector>

#include "base/clock.h"
#include "dice.h"
#include "engine/core.h"
#include "generator.h"
#include "recorded_store.h"
#include "store/memory/memory_store.h"

namespace cairn::sim {

class CaseWorld {
 public:
  CaseWorld(const GeneratedCase& made, std::uint64_t environment_seed);

  // Runs the case and returns its record.
  Result<Json> live();

 private:
  Result<void> deploy();
  Result<void> start();
  bool everything_ended();
  void act();
  void complete_a_task();
  void send_a_signal();
  void work();
  void report(const RunRow& run);
  void operate();
  void move_clock();
  void ask(const InstanceId& id, const std::string& event, EventBody what, Json facts = Json::object());
  std::optional<InstanceId> any_instance(std::optional<Status> status);

  const GeneratedCase& made_;
  std::uint64_t environment_seed_;
  Dice dice_;
  ManualClock clock_;
  MemoryStore memory_;
  Recorder recorder_;
  RecordedStore store_;
  std::unique_ptr<EngineCore> core_;
  Json::Array canonical_;
  std::vector<RunRow> in_hand_;            // leased by a slow worker
  std::vector<std::string> signals_sent_;  // ids, to be sent again
  int requests_ = 0;
  int hostility_ = 0;    // percentage of unexpected payloads
  int operators_ = 0;    // percentage of actions by an operator
  int quiet_clock_ = 0;  // percentage of actions that move the clock
  bool slow_operators_ = false;
};

}  // namespace cairn::sim
