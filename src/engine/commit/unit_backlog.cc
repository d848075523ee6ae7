#include "engine/commit/unit_backlog.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/limit_refusals.h"

namespace cairn {

namespace {

// From this many units on, two idle writers share them.
constexpr std::size_t shared_min = 128;
// How many empty vectors are kept: as many batches can be in transit at once.
constexpr std::size_t spare_max = 4;

}  // namespace

// A transaction has a fixed cost. While commits run, the next one starts when it would be as large as all of them, or
// when they are over. If none runs, a single unit is written at once.
bool UnitBacklog::worth_writing() const { return waiting() > 0 && waiting() >= writing_; }

void UnitBacklog::push(Unit&& unit, CommitAnswer&& answer) {
  progress_.submitted();
  units_.push_back(std::move(unit));
  answers_.push_back(std::move(answer));
}

std::optional<Error> UnitBacklog::add(Unit& unit, CommitAnswer& answer) {
  {
    std::unique_lock lock(mutex_);
    if (!stopping_ && waiting() < waiting_max_) {
      const bool was_worth = worth_writing();
      push(std::move(unit), std::move(answer));
      const bool wakes = std::exchange(wants_more_, false) || (worth_writing() && !was_worth);
      lock.unlock();
      // No writer sleeps while a commit is worth it, so only the unit that changes this wakes one.
      if (wakes) changed_.notify_one();
      return std::nullopt;
    }
  }
  return refusal();
}

std::size_t UnitBacklog::add_all(std::span<Unit> units, std::span<CommitAnswer> answers) {
  std::size_t added = 0;
  {
    const std::lock_guard lock(mutex_);
    for (; !stopping_ && added < units.size() && waiting() < waiting_max_; ++added) {
      push(std::move(units[added]), std::move(answers[added]));
    }
  }
  changed_.notify_one();
  return added;
}

Error UnitBacklog::refusal() {
  const std::lock_guard lock(mutex_);
  if (stopping_) return {ErrorCode::unavailable, "the engine is stopping"};
  return overload_error("limits.commits_waiting_max", static_cast<std::int64_t>(waiting_max_),
                        "too many commits wait for the store; try again later");
}

void UnitBacklog::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

UnitBacklog::Taken UnitBacklog::take(CommitBatch& batch, std::chrono::milliseconds quiet) {
  std::unique_lock lock(mutex_);
  const auto wanted = [this] { return stopping_ || worth_writing(); };
  while (!idle_ && !wanted()) {
    if (changed_.wait_for(lock, quiet) == std::cv_status::no_timeout || wanted() || writing_ > 0) continue;
    idle_ = true;
    spare_.clear();
    return Taken::idle;
  }
  changed_.wait(lock, wanted);
  if (waiting() == 0) return Taken::stopped;
  move_units(batch);
  writing_ += batch.size();
  if (worth_writing()) changed_.notify_one();
  return Taken::units;
}

std::span<const Unit> UnitBacklog::take_more(CommitBatch& batch) {
  std::unique_lock lock(mutex_);
  const bool full = batch.size() == batch_max;
  while (syncing_ && (waiting() == 0 || full)) {
    wants_more_ = !full;
    changed_.wait(lock);
  }
  wants_more_ = false;
  // A free disk gets the transaction at once. Units that have just come go into the next one.
  if (!syncing_) return {};
  move_units(batch);
  writing_ += batch.parts.back().size();
  return batch.parts.back();
}

bool UnitBacklog::take_now(CommitBatch& batch) {
  const std::lock_guard lock(mutex_);
  if (waiting() == 0) return false;
  move_units(batch);
  return true;
}

// Under the lock.
void UnitBacklog::move_units(CommitBatch& batch) {
  idle_ = false;
  std::size_t size = std::min(batch_max - batch.size(), waiting());
  if (writers_ > 1 && writing_ == 0 && batch.size() == 0 && size >= shared_min) size = (size + 1) / 2;
  std::vector<Unit>& units = batch.parts.emplace_back();
  if (batch.size() == 0 && size == units_.size()) {
    units.swap(units_);
    batch.answers.swap(answers_);
    if (spare_.empty()) return;
    std::tie(units_, answers_) = std::move(spare_.back());
    spare_.pop_back();
    return;
  }
  const auto from = static_cast<std::ptrdiff_t>(taken_), to = static_cast<std::ptrdiff_t>(taken_ + size);
  units.assign(std::move_iterator(units_.begin() + from), std::move_iterator(units_.begin() + to));
  batch.answers.insert(batch.answers.end(), std::move_iterator(answers_.begin() + from),
                       std::move_iterator(answers_.begin() + to));
  taken_ += size;
  // The rest moves to the front only when it is the smaller part, so no unit moves often.
  if (taken_ < units_.size() - taken_) return;
  units_.erase(units_.begin(), units_.begin() + to);
  answers_.erase(answers_.begin(), answers_.begin() + to);
  taken_ = 0;
}

void UnitBacklog::written(const CommitBatch& batch, bool syncing) {
  const std::lock_guard lock(mutex_);
  writing_ -= batch.size();
  syncing_ = syncing;
  // Another writer takes the next batch, because this one must answer first.
  if (worth_writing()) changed_.notify_one();
}

void UnitBacklog::synced() {
  {
    const std::lock_guard lock(mutex_);
    syncing_ = false;
  }
  changed_.notify_one();
}

void UnitBacklog::answered(CommitBatch& batch) {
  progress_.answered(batch.size());
  std::vector<Unit>& units = batch.parts.front();
  if (units.capacity() > batch_max) return;
  units.clear();
  batch.answers.clear();
  const std::lock_guard lock(mutex_);
  if (!idle_ && spare_.size() < spare_max) spare_.emplace_back(std::move(units), std::move(batch.answers));
}

}  // namespace cairn
