// Counts what this node has done since it started, for metrics: instances that it started and ended, how long waits
// lasted, how late timers were, and retries of runs. Safe from several threads; a commit takes one short lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "instance/advance.h"
#include "store/rows.h"

namespace cairn {

// A metric has at most this many combinations of names as labels. All further ones share the label `other`, so that
// what users deploy and submit does not decide how many series a server has.
inline constexpr std::size_t workflow_labels_max = 200;
inline constexpr const char* other_label = "other";

// What one slice counts when it is committed.
struct SliceCounts {
  struct Instance {
    std::string definition;
    bool started = false;
    std::optional<Status> ended;
  };
  // The wait for which a step began. Its deadline, timeout and reminders are not counted.
  struct Waited {
    std::string definition;
    std::string step;
    WaitKind kind = WaitKind::timer;
    Duration length;
  };
  std::vector<Instance> instances;
  std::vector<Waited> waits;
  std::optional<Duration> timer_late;

  // Notes an advance that was based on `before` (null: a start). Its `waits_closed` must be complete.
  void add(const Advance& advance, const Snapshot* before);
};

// Durations by their length. Waits last from milliseconds to months.
struct DurationHistogram {
  static constexpr std::array<double, 11> bounds{0.01,     0.1,   1,      10,     60,       // to a minute
                                                 600,      3'600, 21'600, 86'400, 604'800,  // to a week
                                                 2'592'000};                                // 30 days
  std::array<std::uint64_t, bounds.size() + 1> buckets{};  // the last one has everything longer
  std::uint64_t count = 0;
  std::int64_t sum_ms = 0;

  void add(Duration length);
};

class WorkflowCounts {
 public:
  using ByName = std::map<std::string, std::uint64_t>;
  // By definition and final status.
  using Ended = std::map<std::pair<std::string, Status>, std::uint64_t>;
  using Steps = std::map<std::pair<std::string, std::string>, DurationHistogram>;  // by definition and step
  static constexpr std::size_t wait_kinds = 5;
  using Waits = std::array<DurationHistogram, wait_kinds>;  // by WaitKind

  // Call it when the slice is committed.
  void add(SliceCounts slice);
  // These runs were leased through this node: counts those of which it is not the first attempt.
  void add_leased(std::span<const RunRow> runs);

  ByName started() const;  // by definition
  Ended ended() const;
  Steps steps() const;
  Waits waits() const;
  DurationHistogram timers_late() const;
  ByName retries() const;  // by the type of the run

 private:
  mutable std::mutex mutex_;
  ByName started_;
  Ended ended_;
  Steps steps_;
  Waits waits_;
  DurationHistogram timers_late_;
  ByName retries_;
};

}  // namespace cairn
