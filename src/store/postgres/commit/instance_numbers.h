// The facts that let a commit be written without reading first: the numbers of instances, which never change, and
// unused numbers for new ones. The unit provides everything else, and the statements check it. Correctness does not
// depend on this cache: unknown facts are read. Safe from several threads.
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
  // Whether to try. After an attempt that found changed rows it answers no for some commits; more of them if that
  // happens often.
  bool may_skip_reading();
  void was_right();
  void was_wrong();

  // Of the one that was started then: an id may be given again when retention has removed its instance.
  std::optional<std::int64_t> number_of(const std::string& instance, Timestamp started_at) const;
  void learn(const std::string& instance, Timestamp started_at, std::int64_t number);
  void forget(const std::string& instance);

  // Unused numbers for new instances, in the order of allocation; empty if too few are left. They are kept only
  // briefly: lists are ordered by number, so an idle node must not use old numbers later.
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
  bool run_types_ = true;  // until a commit has looked
  // Those used lately, and those before: when the first are many the second are dropped.
  mutable std::unordered_map<std::string, Known> recent_, older_;
  std::vector<std::int64_t> numbers_;  // the next one first
  std::size_t used_ = 0;
  std::chrono::steady_clock::time_point taken_{};
};

}  // namespace cairn::postgres
