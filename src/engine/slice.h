// One decision, from its first event to the unit that holds everything it caused: the instance's own
// advance, the children and continuations it started, and, for children that ended without ever
// waiting, the parent's next advance too. Nothing is written here.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "engine/registry.h"
#include "interpreter/advance.h"
#include "runs/lease_waiters.h"
#include "store/unit.h"

namespace cairn {

class Slice {
 public:
  // How many instances one decision may start. A definition that starts itself without waiting would
  // else never come to an end.
  static constexpr std::size_t starts_max = 1000;

  Slice(Registry& registry, Setting setting, Timestamp at, std::string actor, std::string node);

  Result<void> start(const Program& program, Started started);
  // ErrorCode as of `advance`: the event is refused and nothing of it is in the unit. `before` outlives the slice.
  Result<void> apply(const Program& program, const Snapshot& before, EventBody what);

  const std::string& first() const { return first_; }
  // The first event was about something that is no longer open.
  bool stale() const { return stale_; }
  // The last state of the instance that the slice began with. Not while the unit is away.
  const Snapshot& last() const { return stale_ ? *ground_ : latest(first_); }
  // Where an instance of the unit is found, and where it gets to.
  struct Reached {
    std::uint64_t from_state_version = 0;  // 0: the unit starts it
    std::size_t place = 0;                 // of its last advance
  };
  const std::map<std::string, Reached>& instances() const { return reached_; }
  const Snapshot& latest(const std::string& id) const { return unit.advances[reached_.at(id).place].after; }
  // The unit comes back from its commit, and the snapshots are not needed in it any more.
  void give_back(Unit written) { unit = std::move(written); }
  Snapshot take_latest(const Reached& instance) { return std::move(unit.advances[instance.place].after); }
  // Instances that a checkpoint cut: each goes on with Continued once the unit is committed.
  const std::vector<InstanceId>& unfinished() const { return unfinished_; }
  std::uint64_t from_state_version(const std::string& id) const { return reached_.at(id).from_state_version; }
  // For those who watch: what the slice began with (task_completed), by whom, and when by the clock on the wall.
  const char* cause() const { return cause_; }
  const std::string& actor() const { return actor_; }
  std::chrono::system_clock::time_point began() const { return began_; }

  Unit unit;                                       // the caller adds what caused it, and moves it away for its commit
  std::shared_ptr<LeaseWaiters::Promise> promise;  // of its new runs, until the commit is answered

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
  const Snapshot* ground_ = nullptr;  // what a stale slice was given
  std::map<std::string, Reached> reached_;
  std::map<std::string, std::shared_ptr<const Program>> programs_;  // of instances that this slice started
  const Program* first_program_ = nullptr;
  std::vector<InstanceId> unfinished_;
  std::vector<std::pair<InstanceId, InstanceStart>> to_start_;
  std::vector<ParentNotice> to_tell_;
  std::size_t started_ = 0;
};

}  // namespace cairn
