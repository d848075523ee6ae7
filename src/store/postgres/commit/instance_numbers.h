// What lets a commit be written without asking first: facts that do not change (the numbers of instances) and numbers
// that nobody has yet. Everything else a unit says itself, and the statements check it. Nothing depends on what is
// remembered here: what is not known is asked. Safe from several threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"

namespace cairn::postgres {

class InstanceNumbers {
 public:
  // Whether to try. After an attempt that found the world moved, no for some commits: the more, the more often it
  // happened.
  bool may_skip_reading();
  void was_right();
  void was_wrong();

  // Of the one that was started then: an id may be given again when retention has removed its instance.
  std::optional<std::int64_t> number_of(const std::string& instance, Timestamp started_at) const;
  void learn(const std::string& instance, Timestamp started_at, std::int64_t number);
  void forget(const std::string& instance);

  // Numbers for new instances, in the order in which they were given out; nothing when there are not so many. They are
  // kept for a moment only: lists go by them, so that those of a node that rests must not be used when it wakes up.
  std::vector<std::int64_t> take_numbers(std::size_t count);
  void keep_numbers(std::vector<std::int64_t> numbers);

  bool has_run_types() const;
  void set_run_types(bool any);

 private:
  struct Known {
    Timestamp started_at;
    std::int64_t number = 0;
  };

  mutable std::mutex mutex_;
  std::size_t to_skip_ = 0;
  std::size_t penalty_ = 1;
  bool run_types_ = true;  // until somebody has looked
  // Those used lately, and those before: when the first are many the second are dropped.
  mutable std::unordered_map<std::string, Known> recent_, older_;
  std::vector<std::int64_t> numbers_;  // the next one first
  std::size_t used_ = 0;
  std::chrono::steady_clock::time_point taken_{};
};

}  // namespace cairn::postgres
