// One simulated world: nodes with the real engine, their store and all actors. One seed determines everything.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "chronicle.h"
#include "disk.h"
#include "engine/core.h"
#include "generator.h"
#include "ledger.h"
#include "node_store.h"
#include "plan.h"
#include "promises.h"
#include "recorder.h"
#include "scheduler.h"
#include "trace.h"

namespace cairn::sim {

struct WorldOutcome {
  std::optional<Violation> violation;
  std::uint64_t hash = 0;
  std::vector<std::string> last;  // lines of the trace
  std::map<std::string, std::uint64_t> reached;
  std::uint64_t commits = 0;
  std::uint64_t crashes = 0;
  std::uint64_t steps = 0;
  std::int64_t virtual_ms = 0;
  Json record;  // for the oracle (RECORD.md), if the plan asks for it
};

// An error that may not occur on a retry.
inline bool is_transient(const Error& error) { return error.code == ErrorCode::unavailable; }

class World {
 public:
  World(const Plan& plan, bool print_trace);
  ~World();

  // Turmoil, then calm until everything has ended, then the final checks.
  WorldOutcome run();

  Scheduler& scheduler() { return scheduler_; }
  Dice& dice() { return dice_; }
  Chronicle& chronicle() { return chronicle_; }
  Ledger& ledger() { return ledger_; }
  Promises& promises() { return promises_; }
  Trace& trace() { return trace_; }
  Recorder& recorder() { return recorder_; }
  const Plan& plan() const { return plan_; }
  const GeneratedCase& workflows() const { return case_; }
  // The store without injected faults; null while SQLite's only node is down.
  Store* store();

  bool strikes(Fault fault);
  bool calm() const { return calm_; }
  void say(const std::string& text) { trace_.line(scheduler_.now_ms(), text); }
  void broken(Violation violation);
  bool failed() const { return violation_.has_value(); }

  // Crashes a node. If the running activity belongs to the node, this does not return.
  void crash(int node, const std::string& why, bool power_loss);
  // Injects faults before a store call of the node. An error replaces the answer.
  std::optional<Error> arrive(int node, const char* verb);
  std::optional<Error> leave(int node, const char* verb, bool writes);
  // Waits while the node is paused.
  void stand_still(int node);
  void tell(const Wakeup& wakeup);
  void tell_node(int node, const Wakeup& wakeup);
  void listen(int node, WakeupListener listener);
  // Workers and publishers sleep until there may be work, or until a timeout.
  void rest_until_runs(std::int64_t doubt_ms);
  // A unit being written when its node dies is in doubt.
  void writing(int node, std::span<const Unit> units);
  void written(int node, std::span<const Unit> units, const Result<std::vector<CommitOutcome>>& outcomes);

  // Sends a request to a node and waits for the answer. Empty: the connection broke or timed out, so the outcome is
  // unknown. Only for activities of `no_node`.
  template <class T>
  std::optional<Result<T>> ask(const std::string& what, std::function<Result<T>(EngineCore&)> request);

  std::shared_ptr<const Program> program(const std::string& name, const std::string& version) const;
  // A new version of one of the definitions, to be deployed next.
  std::shared_ptr<const Program> next_version();

 private:
  struct Node {
    std::uint64_t epoch = 0;
    bool up = false;
    std::unique_ptr<Store> own;  // SQLite
    std::unique_ptr<NodeStore> face;
    std::unique_ptr<EngineCore> core;
    WakeupListener listener;
    std::int64_t paused_until = 0;
    std::optional<Timestamp> told_due;
    bool messages = true;
    std::uint64_t timer_loop = 0;
    std::uint64_t message_loop = 0;
    std::uint64_t publisher = 0;
    std::vector<Unit> in_doubt;
  };

  void boot(int node);
  void open_node(int node);
  void run_timers(int node);
  void run_messages(int node);
  void run_publisher(int node);
  void run_until(const std::function<bool()>& done, std::uint64_t steps_max);
  void deploy_all();
  void become_calm();
  Json record();
  void check_end();
  void check_dead_letters(Store& store);
  void check_recovered(Store& store);
  void check_touched(Store& store, const InstanceId& id);
  void cover(const Unit& unit);
  std::optional<int> some_node();
  EngineCore& core(int node) { return *nodes_[static_cast<std::size_t>(node)].core; }

  Plan plan_;
  Dice dice_;
  Dice fault_dice_;
  Dice entropy_;
  Scheduler scheduler_;
  Trace trace_;
  GeneratedCase case_;
  std::optional<Violation> violation_;
  Chronicle chronicle_;
  Ledger ledger_;
  Promises promises_;
  Recorder recorder_;
  Disk disk_;
  std::unique_ptr<Store> shared_;  // memory
  std::vector<Node> nodes_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Program>> programs_;
  std::set<std::uint64_t> resting_;  // workers
  int versions_ = 0;
  bool calm_ = false;
  std::int64_t store_down_until_ = 0;
  std::uint64_t crashes_ = 0;
  std::int64_t start_ms_ = 0;
};

template <class T>
std::optional<Result<T>> World::ask(const std::string& what, std::function<Result<T>(EngineCore&)> request) {
  const auto chosen = some_node();
  if (!chosen) {
    scheduler_.sleep(1000);
    return std::nullopt;
  }
  const int node = *chosen;
  const std::uint64_t epoch = nodes_[static_cast<std::size_t>(node)].epoch;
  const std::uint64_t asker = scheduler_.current();
  const auto answer = std::make_shared<std::optional<Result<T>>>();
  scheduler_.spawn(node, what, [this, node, request, answer, asker] {
    *answer = request(core(node));
    scheduler_.wake(asker);
  });
  const std::int64_t patience = scheduler_.now_ms() + 300'000;
  while (!*answer && nodes_[static_cast<std::size_t>(node)].epoch == epoch && scheduler_.now_ms() < patience) {
    scheduler_.park(scheduler_.now_ms() + 5'000);
  }
  return *answer;
}

}  // namespace cairn::sim
