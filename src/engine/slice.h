// One decision, from its first event to the unit with everything that it causes. The unit has the advance of the
// instance and the children and continuations that it starts. If a child ends without waiting, the unit also has the
// next advance of the parent. A slice writes nothing.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "engine/registry.h"
#include "engine/workflow_counts.h"
#include "interpreter/advance.h"
#include "runs/lease_waiters.h"
#include "store/unit.h"

namespace cairn {

class Slice {
 public:
  // How many instances one decision may start. Without a limit, a definition that starts itself without waiting would
  // never end.
  static constexpr std::size_t starts_max = 1000;

  Slice(Registry& registry, Setting setting, Timestamp at, std::string actor, std::string node);

  Result<void> start(const Program& program, Started started);
  // Errors are those of `advance`: the event is refused, and the unit has nothing of it. `before` must outlive the
  // slice.
  Result<void> apply(const Program& program, const Snapshot& before, EventBody what);

  const std::string& first() const { return first_; }
  // The first event was for a wait that is no longer open.
  bool stale() const { return stale_; }
  // The last snapshot of the instance that the slice began with. Not while the queue has the unit.
  const Snapshot& last() const { return stale_ ? *ground_ : latest(first_); }
  // An instance of the unit: the version that its first advance is based on, and its last advance.
  struct Reached {
    std::uint64_t from_state_version = 0;  // 0: the unit starts it
    std::size_t place = 0;                 // of its last advance in the unit
  };
  const std::map<std::string, Reached>& instances() const { return reached_; }
  const Snapshot& latest(const std::string& id) const { return unit.advances[reached_.at(id).place].after; }
  // The queue returns the unit after its commit.
  void give_back(Unit written) { unit = std::move(written); }
  Snapshot take_latest(const Reached& instance) { return std::move(unit.advances[instance.place].after); }
  // Instances that a checkpoint interrupted. Each continues with Continued after the unit is committed.
  const std::vector<InstanceId>& unfinished() const { return unfinished_; }
  std::uint64_t from_state_version(const std::string& id) const { return reached_.at(id).from_state_version; }
  // For observers: the first event (for example task_completed), its actor and its wall-clock time.
  const char* cause() const { return cause_; }
  const std::string& actor() const { return actor_; }
  std::chrono::system_clock::time_point began() const { return began_; }
  // For metrics, when the unit is committed.
  SliceCounts take_counts();

  Unit unit;                                       // the caller adds the cause, and moves the unit into the queue
  std::shared_ptr<LeaseWaiters::Promise> promise;  // for its new runs, until the commit is answered

 private:
  Event event(const InstanceId& id, std::uint64_t state_version, EventBody what) const;
  void take(Advance advance, const Snapshot* before = nullptr);
  void start_and_notify();
  void start_child(const InstanceId& parent, const InstanceStart& start);
  void refuse_child(const InstanceId& parent, const InstanceStart& start, Failure failure);

  Registry& registry_;
  Setting setting_;
  Timestamp at_;
  std::string actor_;
  std::string node_;
  std::string first_;
  bool stale_ = false;
  const char* cause_ = "started";
  std::chrono::system_clock::time_point began_ = std::chrono::system_clock::now();
  const Snapshot* ground_ = nullptr;  // the snapshot that a stale slice was given
  std::map<std::string, Reached> reached_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;  // of instances that this slice started
  const Program* first_program_ = nullptr;
  std::vector<InstanceId> unfinished_;
  std::vector<std::pair<InstanceId, InstanceStart>> to_start_;
  std::vector<ParentNotice> to_tell_;
  std::size_t started_ = 0;
  SliceCounts counts_;
};

}  // namespace cairn
