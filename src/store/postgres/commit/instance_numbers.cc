#include "store/postgres/commit/instance_numbers.h"

#include <algorithm>
#include <utility>

namespace cairn::postgres {

namespace {

constexpr std::size_t penalty_max = 64;
constexpr std::size_t recent_numbers_max = 8192;
constexpr std::chrono::milliseconds numbers_last{250};

}  // namespace

bool InstanceNumbers::may_skip_reading() {
  const std::lock_guard lock(mutex_);
  if (to_skip_ == 0) return true;
  --to_skip_;
  return false;
}

void InstanceNumbers::was_right() {
  const std::lock_guard lock(mutex_);
  penalty_ = std::max<std::size_t>(1, penalty_ / 2);
}

void InstanceNumbers::was_wrong() {
  const std::lock_guard lock(mutex_);
  penalty_ = std::min(penalty_max, penalty_ * 2);
  to_skip_ = penalty_;
}

std::optional<std::int64_t> InstanceNumbers::number_of(const std::string& instance, Timestamp started_at) const {
  const std::lock_guard lock(mutex_);
  for (const auto* const known : {&recent_, &older_}) {
    const auto found = known->find(instance);
    if (found == known->end()) continue;
    if (found->second.started_at != started_at) return std::nullopt;
    return found->second.number;
  }
  return std::nullopt;
}

void InstanceNumbers::learn(const std::string& instance, Timestamp started_at, std::int64_t number) {
  const std::lock_guard lock(mutex_);
  if (recent_.size() >= recent_numbers_max) older_ = std::exchange(recent_, {});
  recent_[instance] = {started_at, number};
}

void InstanceNumbers::forget(const std::string& instance) {
  const std::lock_guard lock(mutex_);
  recent_.erase(instance);
  older_.erase(instance);
}

std::vector<std::int64_t> InstanceNumbers::take_numbers(std::size_t count) {
  const std::lock_guard lock(mutex_);
  if (numbers_.size() - used_ < count || std::chrono::steady_clock::now() - taken_ > numbers_last) return {};
  const auto begin = numbers_.begin() + static_cast<std::ptrdiff_t>(used_);
  used_ += count;
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

void InstanceNumbers::keep_numbers(std::vector<std::int64_t> numbers) {
  const std::lock_guard lock(mutex_);
  numbers_ = std::move(numbers);
  used_ = 0;
  taken_ = std::chrono::steady_clock::now();
}

bool InstanceNumbers::has_run_types() const {
  const std::lock_guard lock(mutex_);
  return run_types_;
}

void InstanceNumbers::set_run_types(bool any) {
  const std::lock_guard lock(mutex_);
  run_types_ = any;
}

}  // namespace cairn::postgres
