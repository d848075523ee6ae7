// A record of what was committed, kept outside the store and never derived from it. Each commit is compared with all
// earlier ones; a commit that the store accepted wrongly is a violation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/store.h"
#include "violation.h"

namespace cairn::sim {

class Chronicle {
 public:
  struct Instance {
    std::uint64_t state_version = 0;
    Status status = Status::running;
    ProgramKey program;
    std::optional<InstanceId> parent;
    std::set<std::string> open;  // wait tokens
    bool removed = false;        // by retention
  };
  struct Run {
    std::string idempotency_key;
    std::optional<InstanceId> instance;
    RunStatus status = RunStatus::pending;
    std::uint64_t fence = 0;
    std::optional<Timestamp> lease_until;
    int attempt = 0;
    int attempts_max = 0;
  };
  struct Task {
    InstanceId instance;
    TaskStatus status = TaskStatus::open;
    std::string by;
    Json payload;
    std::vector<std::string> exclude;
  };

  explicit Chronicle(std::function<void(Violation)> report) : report_(std::move(report)) {}

  // `now` is the store's time.
  void committed(const Unit& unit, const CommitOutcome& outcome, Timestamp now);
  void leased(const RunRow& run, Timestamp now);
  void run_changed(const RunChange& change, const RunChanged& answer, Timestamp now);
  // Call before and after a run is submitted: if its node dies in between, the outcome is unknown.
  void submitting(const RunRow& run) { in_doubt_.emplace(run.id.value, run); }
  void submitted(const RunRow& run);
  // After retention or a restart: checks that the store's contents follow from the commits. `lost` names the violation
  // for a missing state version.
  void compare(Store& store, const char* lost);
  // After a crash during a commit: asks the store whether the unit was written. Returns true if it was.
  bool resolve_doubt(const Unit& unit, Store& store, Timestamp now);

  const std::map<std::string, Instance>& instances() const { return instances_; }
  const std::map<std::string, Run>& runs() const { return runs_; }
  const std::map<std::string, Task>& tasks() const { return tasks_; }
  bool key_known(const std::string& run_key) const { return run_keys_.contains(run_key); }
  // Whether the signal id was applied to an instance.
  bool applied(const std::string& signal) const { return signals_.contains(signal); }
  std::uint64_t commits() const { return commits_; }

 private:
  void broken(std::string invariant, std::string message) { report_({std::move(invariant), std::move(message)}); }
  void advanced(const Advance& advance, const Unit& unit);
  void waits(Instance& instance, const Advance& advance);
  void tasks_and_runs(const Advance& advance);

  std::function<void(Violation)> report_;
  std::map<std::string, Instance> instances_;
  std::map<std::string, Run> runs_;
  std::map<std::string, RunRow> in_doubt_;  // runs that were submitted without an answer
  std::map<std::string, Task> tasks_;
  std::set<std::string> tokens_;
  std::map<std::string, std::string> run_keys_;
  std::set<std::pair<std::string, std::string>> inbox_;
  std::set<std::string> signals_;
  std::set<std::pair<std::string, std::string>> keys_;
  std::set<std::int64_t> messages_;
  std::set<std::string> outbox_;
  std::uint64_t commits_ = 0;
};

}  // namespace cairn::sim
