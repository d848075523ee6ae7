#include "coordinator/commit_queue.h"

#include <algorithm>
#include <utility>

#include "base/memory.h"

namespace cairn {

namespace {

// A batch of this size is answered by the writer itself: handing it over would take longer.
constexpr std::size_t answered_here_max = 8;
// Batches that wait to be answered before the writer waits for them.
constexpr std::size_t written_max = 4;

// While a commit is under way, another one begins with as many units as that has, or when it is over: each transaction
// has its price, and whoever took every unit as it comes would pay it for each. Alone, a unit is written at once.
bool worth_writing(std::size_t waiting, std::size_t under_way) { return waiting > 0 && waiting >= under_way; }

}  // namespace

CommitQueue::CommitQueue(Store& store, std::function<void()> yield, std::chrono::milliseconds quiet)
    : store_(store), yield_(std::move(yield)), quiet_(quiet) {
  if (yield_) return;
  for (std::size_t i = 0; i < store.writers(); ++i) writers_.emplace_back([this] { run(); });
  answerer_ = std::jthread([this] { run_answers(); });
}

CommitQueue::~CommitQueue() { stop(); }

void CommitQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  filled_.notify_all();
  while (yield_ && write_queued()) {
  }
  for (std::jthread& writer : writers_) {
    if (writer.joinable()) writer.join();
  }
  {
    const std::lock_guard lock(written_mutex_);
    all_written_ = true;
  }
  written_changed_.notify_all();
  if (answerer_.joinable()) answerer_.join();
}

void CommitQueue::submit(Unit unit, Answer answer) {
  if (store_.keeps_encoded()) encode_ahead(unit);
  Error refused{ErrorCode::limit, "too many commits wait for the store; try again later"};
  {
    std::unique_lock lock(mutex_);
    if (stopping_) {
      refused = {ErrorCode::unavailable, "the engine is stopping"};
    } else if (waiting_.size() < waiting_max) {
      const bool was_worth = worth_writing(waiting_.size(), writing_);
      waiting_.push_back({std::move(unit), std::move(answer)});
      const bool is_worth = worth_writing(waiting_.size(), writing_);
      lock.unlock();
      // No writer sleeps while there is something worth writing, so only the unit that makes it so has somebody to
      // wake.
      if (is_worth && !was_worth) filled_.notify_one();
      return;
    }
  }
  answer(refused, std::move(unit));
}

void CommitQueue::submit_all(std::vector<Unit> units, std::function<void(std::size_t, Result<CommitOutcome>)> answer) {
  if (units.empty()) return;
  if (store_.keeps_encoded()) {
    for (Unit& unit : units) encode_ahead(unit);
  }
  // One function for all of them, shared by their entries until the last is answered.
  const auto shared = std::make_shared<std::function<void(std::size_t, Result<CommitOutcome>)>>(std::move(answer));
  std::size_t taken = 0;
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    for (; !stopping && taken < units.size() && waiting_.size() < waiting_max; ++taken) {
      waiting_.push_back({std::move(units[taken]), [shared, taken](Result<CommitOutcome> outcome, const Unit&) {
                            (*shared)(taken, std::move(outcome));
                          }});
    }
  }
  filled_.notify_one();
  const Error refused = stopping ? Error{ErrorCode::unavailable, "the engine is stopping"}
                                 : Error{ErrorCode::limit, "too many commits wait for the store; try again later"};
  for (; taken < units.size(); ++taken) (*shared)(taken, refused);
}

Result<CommitOutcome> CommitQueue::commit(Unit unit) {
  return wait_for<Result<CommitOutcome>>([&](std::function<void(Result<CommitOutcome>)> done) {
    submit(std::move(unit),
           [done = std::move(done)](Result<CommitOutcome> outcome, const Unit&) { done(std::move(outcome)); });
  });
}

void CommitQueue::Expected::one_more() {
  const std::lock_guard lock(mutex_);
  ++open_;
}

void CommitQueue::Expected::answered() {
  // Notified under the lock: the waiter owns all of this and is gone as soon as it can see the last answer.
  const std::lock_guard lock(mutex_);
  if (--open_ == 0) changed_.notify_one();
}

void CommitQueue::Expected::wait() {
  if (!queue_.yield_) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
    return;
  }
  while (open_ > 0) {
    if (!queue_.write_queued()) queue_.yield_();
  }
}

// Under the lock.
CommitQueue::Batch CommitQueue::take_batch() {
  rests_ = false;
  Batch batch;
  const std::size_t size = std::min(batch_max, waiting_.size());
  batch.units.reserve(size);
  batch.answers.reserve(size);
  while (batch.units.size() < size) {
    batch.units.push_back(std::move(waiting_.front().unit));
    batch.answers.push_back(std::move(waiting_.front().answer));
    waiting_.pop_front();
  }
  return batch;
}

bool CommitQueue::write_queued() {
  Batch batch;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || writing_ >= store_.writers()) return false;
    ++writing_;
    batch = take_batch();
  }
  write(batch);
  {
    const std::lock_guard lock(mutex_);
    --writing_;
  }
  answer(batch);
  return true;
}

// A server that nobody asks anything keeps no memory for the load it had. Said once, so that an idle process sleeps.
void CommitQueue::wait_for_units(std::unique_lock<std::mutex>& lock) {
  const auto wanted = [this] { return stopping_ || worth_writing(waiting_.size(), writing_); };
  while (!rests_ && !wanted()) {
    if (filled_.wait_for(lock, quiet_) == std::cv_status::no_timeout || wanted() || writing_ > 0) continue;
    rests_ = true;
    lock.unlock();
    store_.rest();
    return_free_memory();
    lock.lock();
  }
  filled_.wait(lock, wanted);
}

void CommitQueue::run() {
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      wait_for_units(lock);
      if (waiting_.empty()) return;
      batch = take_batch();
      writing_ += batch.units.size();
      if (worth_writing(waiting_.size(), writing_)) filled_.notify_one();
    }
    write(batch);
    {
      const std::lock_guard lock(mutex_);
      writing_ -= batch.units.size();
      // This one has answers to give first.
      if (worth_writing(waiting_.size(), writing_)) filled_.notify_one();
    }
    if (batch.units.size() <= answered_here_max) {
      answer(batch);
      continue;
    }
    std::unique_lock lock(written_mutex_);
    written_changed_.wait(lock, [this] { return written_.size() < written_max; });
    written_.push_back(std::move(batch));
    written_changed_.notify_all();
  }
}

void CommitQueue::run_answers() {
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(written_mutex_);
      written_changed_.wait(lock, [this] { return all_written_ || !written_.empty(); });
      if (written_.empty()) return;
      batch = std::move(written_.front());
      written_.pop_front();
    }
    written_changed_.notify_all();
    answer(batch);
  }
}

thread_local const CommitQueue* CommitQueue::committing = nullptr;

void CommitQueue::write(Batch& batch) {
  const CommitQueue* const before = std::exchange(committing, this);
  batch.outcomes = store_.commit(batch.units);
  committing = before;
}

void CommitQueue::answer(Batch& batch) {
  for (std::size_t i = 0; i < batch.answers.size(); ++i) {
    if (*batch.outcomes) {
      batch.answers[i](std::move((**batch.outcomes)[i]), std::move(batch.units[i]));
    } else {
      batch.answers[i](batch.outcomes->error(), std::move(batch.units[i]));
    }
  }
}

}  // namespace cairn
