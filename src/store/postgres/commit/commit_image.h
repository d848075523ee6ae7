// What a batch asks about, locked and read. The rows stay locked until the transaction ends, so what is
// decided on the image holds when it is written.
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
    std::uint64_t version = 0;
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
    std::uint64_t version = 0;
    bool open = false;
  };
  struct Key {
    std::string request_hash;
    Json answer;
    bool ours = false;        // claimed by this transaction
    bool used = false;        // by a unit that won
    std::string stored_hash;  // what stands in the row now
    Json stored_answer;
  };
  using TimerKey = std::tuple<Timestamp, std::string, std::string>;  // due, instance, token

  // One pipeline. The connection's error tells when it failed. What is good for later commits too goes to `memory`.
  void load(Connection& db, std::span<const Unit> units, Timestamp now, InstanceNumbers& memory);

  // Why a unit writes nothing; nothing: it wins. Asks everything before anything is changed.
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
