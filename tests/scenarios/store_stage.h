// Runs a scenario on a real engine and store. Only the store and the clock survive a restart; `expect` is checked
// against the store.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "cut_store.h"
#include "engine/core.h"
#include "scenario/scenario.h"

namespace cairn {

// Opens a store like a new process. `clock` must outlive it.
using OpenStore = std::function<std::shared_ptr<Store>(Clock& clock)>;

class StoreStage final : public Stage {
 public:
  // With `restarts`, everything in memory is dropped after each commit that moves an instance.
  StoreStage(const Scenario& scenario, OpenStore open, bool restarts);
  ~StoreStage() override;

  Result<void> start(const InstanceId& id) override;
  Result<void> answer(const std::string& task, const std::string& by, const Json& payload) override;
  Result<void> signal(const SignalReceived& signal, std::optional<Duration> ttl) override;
  Result<void> reply(const CallReply& reply) override;
  Result<void> request(EventBody what) override;
  Result<bool> fire_next(std::optional<Timestamp> until) override;
  void move_clock(Timestamp to) override;
  Timestamp now() const override { return now_; }
  Json show(const std::string& what) override;

  const CommittedBytes& bytes() const { return ledger_.bytes; }
  Store& store() { return *cut_; }
  // A rehearsal lets the root buffer such a signal first; here it goes directly to the child.
  bool signalled_child() const { return signalled_child_; }

 private:
  void reopen();
  // Sends one request. If it was interrupted, its answer is lost but its effect is committed.
  Result<void> act(const std::function<Result<void>(EngineCore&)>& request);
  // Runs until nothing can happen without a person, a signal or time.
  Result<void> run_until_waiting();
  Result<bool> step();
  Result<void> report(const RunRow& run, const CallReply& reply);
  std::optional<CallReply> take_reply(const RunRow& run);

  std::vector<Snapshot> tree();  // the root and its descendants, in the order of their start
  std::vector<RunRow> open_runs();
  std::vector<TaskRow> open_tasks();
  void list_waits(const Snapshot& snapshot, Json& into);

  const Scenario& scenario_;
  OpenStore open_;
  bool restarts_;
  ManualClock clock_;
  Timestamp now_;
  InstanceId root_;
  bool signalled_child_ = false;
  std::vector<CallReply> replies_;
  CommitLedger ledger_;
  std::shared_ptr<Store> store_;
  std::unique_ptr<CutStore> cut_;
  std::unique_ptr<EngineCore> core_;
};

}  // namespace cairn
