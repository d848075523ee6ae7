// Records one case as described in RECORD.md, from the committed units and the final state. It sees only what a store
// sees, so it works with the commits of any store.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "store/store.h"

namespace cairn::sim {

class Recorder {
 public:
  // A unit does not contain everything that caused it. Call these before the commit; an entry has the form of the
  // history, without `at`. A request is identified by its actor, so each needs its own actor.
  void will_signal(const std::string& id, const std::string& name, const Json& key, const Json& payload);
  void will_request(const std::string& actor, Json entry);
  void was_refused(const std::string& actor, const char* why, Timestamp now);
  void will_not_retry(const RunId& run);
  void took(const Message& message);

  void committed(const Unit& unit, Timestamp now);
  void retried(const RunChange& change, const RunChanged& answer, Timestamp now);
  // Entries that change no instance: refused, broadcast, assign.
  void note(Json entry, Timestamp now);

  // The whole record; reads the final state from the store. Claims its outbox.
  Result<Json> finish(Store& store, Json record);

  std::size_t instances() const { return instances_.size(); }
  const std::vector<InstanceId>& instance_ids() const { return instances_; }

 private:
  struct Starter {
    InstanceId instance;
    std::string step;
  };

  Json cause_of(const Unit& unit, const Advance& advance);
  Json cause_of(const Message& message, const InstanceId& instance);
  Json child_entry(const WaitToken& token);
  Json run_entry(const std::string& run, const std::string& step, const Json& result, const Json& error);
  void begun(const Advance& advance);
  void keep(const Advance& advance);
  Result<Json> rows_of_instances(Store& store);
  Result<Json> rows_of_tasks(Store& store);
  Result<Json> rows_of_runs(Store& store);

  Json::Array history_;
  std::vector<InstanceId> instances_;
  std::vector<TaskId> tasks_;
  std::vector<RunId> runs_;
  std::map<std::string, Starter> starters_;  // for instances that a step started
  std::map<std::string, Wait> waits_;        // by token
  std::set<std::string> cut_;                // instances whose slice was interrupted by a checkpoint
  std::map<std::int64_t, Message> messages_;
  std::map<std::string, Json> signals_;   // by id
  std::map<std::string, Json> requests_;  // by actor
  std::set<std::string> not_retried_;     // runs
};

}  // namespace cairn::sim
