// The rows that a batch depends on, locked and read. They stay locked until the transaction ends, so decisions based on
// the image are still valid when they are written.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>

#include "store/postgres/commit/instance_numbers.h"
#include "store/postgres/wire/connection.h"
#include "store/unit.h"

namespace cairn::postgres {

class CommitImage {
 public:
  struct Instance {
    std::int64_t number = 0;  // 0: not stored yet
    std::uint64_t state_version = 0;
    Timestamp started_at;
    bool ended = false;
  };
  struct Run {
    RunStatus status = RunStatus::pending;
    std::uint64_t fence = 0;
    int attempt = 0;
    std::string type;
  };
  struct Task {
    std::uint64_t state_version = 0;
    bool open = false;
  };
  struct Key {
    std::string request_hash;
    Json answer;
    bool ours = false;        // claimed by this transaction
    bool used = false;        // by a unit that was accepted
    std::string stored_hash;  // the current content of the row
    Json stored_answer;
  };
  using TimerKey = std::tuple<Timestamp, std::string, std::string>;  // due, instance, token

  // Runs one pipeline. On failure the connection has the error. Facts that later commits can use go to `memory`.
  void load(Connection& db, std::span<const Unit> units, Timestamp now, InstanceNumbers& memory);

  // Why the unit was refused; empty if it was accepted. Everything is checked before anything is changed.
  std::optional<CommitOutcome> refuse(const Unit& unit) const;

  std::map<std::string, Instance> instances;
  std::set<std::int64_t> messages;
  std::set<TimerKey> timers;
  std::map<std::string, Run> runs;    // by id
  std::map<std::string, Task> tasks;  // by id
  std::map<std::pair<std::string, std::string>, Key> keys;
  std::set<std::pair<std::string, std::string>> inbox;
  std::map<std::string, RunTypeRow> run_types;
  std::vector<std::int64_t> numbers;  // for new instances, the first one last
  bool kept = false;                  // signals are kept that one of the waits may take
};

}  // namespace cairn::postgres
