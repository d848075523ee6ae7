// A store that is good for one commit of a unit that moves an instance: afterwards every further one is
// refused, as if the process had died. Also keeps a ledger of what was committed.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace cairn {

using CommittedBytes = std::map<std::string, std::vector<std::string>>;  // by instance, in order

// What was committed, whatever process did it.
struct CommitLedger {
  CommittedBytes bytes;
  std::vector<TaskId> tasks_closed;
};

class CutStore final : public Store {
 public:
  // `inner` and `ledger` outlive it. Without `cuts` it only keeps the ledger.
  CutStore(Store& inner, CommitLedger& ledger, bool cuts) : inner_(inner), ledger_(ledger), cuts_(cuts) {}

  bool is_cut() const { return cut_; }

  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    if (cut_) return Error{ErrorCode::unavailable, "the process is gone"};
    auto outcomes = inner_.commit(units);
    if (!outcomes) return outcomes;
    for (std::size_t i = 0; i < units.size(); ++i) {
      if ((*outcomes)[i].kind != CommitOutcome::Kind::done) continue;
      for (const Advance& advance : units[i].advances) {
        if (advance.outcome == Advance::Outcome::stale) continue;
        ledger_.bytes[advance.after.instance.value].push_back(encode_snapshot(advance.after));
        for (const TaskClosed& closed : advance.tasks_closed) ledger_.tasks_closed.push_back(closed.id);
        cut_ = cuts_;
      }
    }
    return outcomes;
  }

  Timestamp now() override { return inner_.now(); }
  Result<int> schema_version() override { return inner_.schema_version(); }
  void watch(WakeupListener listener) override { inner_.watch(std::move(listener)); }
  Result<PutDefinition> put_definition(const DefinitionRow& row) override { return inner_.put_definition(row); }
  Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                       const std::optional<std::string>& version) override {
    return inner_.find_definition(name, version);
  }
  Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) override {
    return inner_.list_definitions(page);
  }
  Result<bool> retire_definition(const std::string& name, const std::string& version) override {
    return inner_.retire_definition(name, version);
  }
  Result<std::optional<Snapshot>> find_snapshot(const InstanceId& id) override { return inner_.find_snapshot(id); }
  Result<std::optional<KeyAnswer>> find_key(const std::string& scope, const std::string& key) override {
    return inner_.find_key(scope, key);
  }
  Result<void> park(const InstanceId& id, const Failure& why, const DeadLetter& letter,
                    std::optional<std::int64_t> message) override {
    return inner_.park(id, why, letter, message);
  }
  Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) override {
    return inner_.mark_deleted(id, reason);
  }
  Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) override { return inner_.record_signal(signal); }
  Result<std::vector<DueTimer>> take_timers(std::size_t max, Duration hold) override {
    return inner_.take_timers(max, hold);
  }
  Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) override {
    return inner_.take_messages(max, hold);
  }
  void give_back(const DueTimer& timer) override { inner_.give_back(timer); }
  void give_back_message(std::int64_t message) override { inner_.give_back_message(message); }
  Result<std::optional<Timestamp>> next_due() override { return inner_.next_due(); }
  Result<std::pair<RunRow, bool>> submit_run(const RunRow& run) override { return inner_.submit_run(run); }
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override { return inner_.lease_runs(request); }
  Result<RunChanged> change_run(const RunChange& change) override { return inner_.change_run(change); }
  Result<std::vector<RunRow>> exhausted_runs(std::size_t max) override { return inner_.exhausted_runs(max); }
  Result<std::optional<RunRow>> find_run(const RunId& id) override { return inner_.find_run(id); }
  Result<Page<RunRow>> list_runs(const RunFilter& filter, const PageRequest& page) override {
    return inner_.list_runs(filter, page);
  }
  Result<std::vector<RunEvent>> run_events(const RunId& id) override { return inner_.run_events(id); }
  Result<std::vector<RunTypeRow>> list_run_types() override { return inner_.list_run_types(); }
  Result<std::vector<OutboxRow>> claim_outbox(std::size_t max, Duration hold) override {
    return inner_.claim_outbox(max, hold);
  }
  Result<void> mark_published(std::span<const std::int64_t> sequences) override {
    return inner_.mark_published(sequences);
  }
  Result<TaskChanged> change_task(const TaskChange& change) override { return inner_.change_task(change); }
  Result<std::optional<TaskRow>> find_task(const TaskId& id) override { return inner_.find_task(id); }
  Result<Page<TaskRow>> list_tasks(const TaskFilter& filter, const PageRequest& page) override {
    return inner_.list_tasks(filter, page);
  }
  Result<std::vector<TaskEvent>> task_events(const TaskId& id) override { return inner_.task_events(id); }
  Result<std::optional<InstanceRow>> find_instance(const InstanceId& id) override { return inner_.find_instance(id); }
  Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) override {
    return inner_.list_instances(filter, page);
  }
  Result<Page<HistoryRow>> history(const InstanceId& id, const PageRequest& page) override {
    return inner_.history(id, page);
  }
  Result<std::vector<Wait>> list_waits(const InstanceId& id) override { return inner_.list_waits(id); }
  Result<std::vector<DueTimer>> list_timers(const InstanceId& id) override { return inner_.list_timers(id); }
  Result<std::vector<Message>> list_messages(const InstanceId& id) override { return inner_.list_messages(id); }
  Result<std::int64_t> put_dead_letter(const DeadLetter& letter) override { return inner_.put_dead_letter(letter); }
  Result<Page<DeadLetter>> list_dead_letters(const PageRequest& page) override {
    return inner_.list_dead_letters(page);
  }
  Result<bool> replay_dead_letter(std::int64_t id) override { return inner_.replay_dead_letter(id); }
  Result<bool> discard_dead_letter(std::int64_t id) override { return inner_.discard_dead_letter(id); }
  Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                            Duration length) override {
    return inner_.hold_lock(name, owner, length);
  }
  Result<void> drop_lock(const HostLock& lock) override { return inner_.drop_lock(lock); }
  Result<RetentionOutcome> retire_instances(const RetentionRequest& request) override {
    return inner_.retire_instances(request);
  }

 private:
  Store& inner_;
  CommitLedger& ledger_;
  bool cuts_;
  std::atomic<bool> cut_ = false;
};

}  // namespace cairn
