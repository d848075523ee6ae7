#include "engine/commit_queue.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/limit_refusals.h"
#include "base/memory.h"
#include "store/store_calls.h"

namespace cairn {

namespace {

// A batch of this size is answered by the writer itself: handing it over would take longer.
constexpr std::size_t answered_here_max = 8;
// When nothing is under way, so many units are shared by two writers.
constexpr std::size_t shared_min = 128;
// A batch of this size is settled by the writer too: there is little to do meanwhile.
constexpr std::size_t synced_here_max = 4;
// Batches that wait in a line before whoever brings the next one waits too.
constexpr std::size_t line_max = 4;
// As many batches may be on their way at once; the room of more is not kept.
constexpr std::size_t spare_max = 4;

// While a commit is under way, another one begins with as many units as that has, or when it is over: each transaction
// has its price, and whoever took every unit as it comes would pay it for each. Alone, a unit is written at once.
bool worth_writing(std::size_t waiting, std::size_t under_way) { return waiting > 0 && waiting >= under_way; }

Error refusal(bool stopping) {
  if (stopping) return {ErrorCode::unavailable, "the engine is stopping"};
  return overload_error("commit_queue", CommitQueue::waiting_max,
                        "too many commits wait for the store; try again later");
}

}  // namespace

CommitQueue::CommitQueue(Store& store, std::function<void()> yield, std::chrono::milliseconds quiet)
    : store_(store), yield_(std::move(yield)), quiet_(quiet) {
  if (yield_) return;
  if (store.traits().commits_unsynced) syncer_ = std::jthread([this] { run_syncs(); });
  answerer_ = std::jthread([this] { run_answers(); });
  for (std::size_t i = 0; i < store.traits().writers; ++i) writers_.emplace_back([this] { run(); });
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
  unsynced_.close();
  if (syncer_.joinable()) syncer_.join();
  unanswered_.close();
  if (answerer_.joinable()) answerer_.join();
}

void CommitQueue::submit(Unit unit, Answer answer) {
  if (store_.traits().keeps_encoded) encode_ahead(unit);
  bool stopping = false;
  {
    std::unique_lock lock(mutex_);
    stopping = stopping_;
    if (!stopping && waiting() < waiting_max) {
      note_submitted(1);
      const bool was_worth = worth_writing(waiting(), writing_);
      units_.push_back(std::move(unit));
      answers_.push_back(std::move(answer));
      const bool is_worth = worth_writing(waiting(), writing_);
      const bool wakes = std::exchange(wants_more_, false) || (is_worth && !was_worth);
      lock.unlock();
      // No writer sleeps while there is something worth writing, so only the unit that makes it so has somebody to
      // wake.
      if (wakes) filled_.notify_one();
      return;
    }
  }
  answer(refusal(stopping), std::move(unit));
}

void CommitQueue::submit_all(std::vector<Unit> units, std::function<void(std::size_t, Result<CommitOutcome>)> answer) {
  if (units.empty()) return;
  if (store_.traits().keeps_encoded) {
    for (Unit& unit : units) encode_ahead(unit);
  }
  // One function for all of them, shared by their entries until the last is answered.
  const auto shared = std::make_shared<std::function<void(std::size_t, Result<CommitOutcome>)>>(std::move(answer));
  std::size_t taken = 0;
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
    for (; !stopping && taken < units.size() && waiting() < waiting_max; ++taken) {
      note_submitted(1);
      units_.push_back(std::move(units[taken]));
      answers_.emplace_back(
          [shared, taken](Result<CommitOutcome> outcome, const Unit&) { (*shared)(taken, std::move(outcome)); });
    }
  }
  filled_.notify_one();
  for (; taken < units.size(); ++taken) (*shared)(taken, refusal(stopping));
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
    check_store_call();  // a thread of the queue would wait for itself
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_ == 0; });
    return;
  }
  while (open_ > 0) {
    if (!queue_.write_queued()) queue_.yield_();
  }
}

// Under the lock.
void CommitQueue::take_units(Batch& batch) {
  rests_ = false;
  std::size_t size = std::min(batch_max - batch.size(), waiting());
  if (writers_.size() > 1 && writing_ == 0 && batch.size() == 0 && size >= shared_min) size = (size + 1) / 2;
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
  // What is left moves up when there is less of it than of what is gone, so that no unit moves often.
  if (taken_ < units_.size() - taken_) return;
  units_.erase(units_.begin(), units_.begin() + to);
  answers_.erase(answers_.begin(), answers_.begin() + to);
  taken_ = 0;
}

void CommitQueue::give_back(Batch& batch) {
  std::vector<Unit>& units = batch.parts.front();
  if (units.capacity() > batch_max) return;
  units.clear();
  batch.answers.clear();
  const std::lock_guard lock(mutex_);
  if (!rests_ && spare_.size() < spare_max) spare_.emplace_back(std::move(units), std::move(batch.answers));
}

std::span<const Unit> CommitQueue::take_more(Batch& batch) {
  std::unique_lock lock(mutex_);
  const bool full = batch.size() == batch_max;
  while (syncing_ && (waiting() == 0 || full)) {
    wants_more_ = !full;
    filled_.wait(lock);
  }
  wants_more_ = false;
  // The sooner the disk has something to do again the better: what has just come can be worked on meanwhile.
  if (!syncing_) return {};
  take_units(batch);
  writing_ += batch.parts.back().size();
  return batch.parts.back();
}

bool CommitQueue::write_queued() {
  Batch batch;
  {
    const std::lock_guard lock(mutex_);
    if (waiting() == 0 || writing_ >= store_.traits().writers) return false;
    ++writing_;
    take_units(batch);
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
  const auto wanted = [this] { return stopping_ || worth_writing(waiting(), writing_); };
  while (!rests_ && !wanted()) {
    if (filled_.wait_for(lock, quiet_) == std::cv_status::no_timeout || wanted() || writing_ > 0) continue;
    rests_ = true;
    spare_.clear();
    lock.unlock();
    store_.release_caches();
    return_free_memory();
    lock.lock();
  }
  filled_.wait(lock, wanted);
}

void CommitQueue::run() {
  std::size_t before = 0;  // how large the last batch was
  for (;;) {
    Batch batch;
    {
      std::unique_lock lock(mutex_);
      wait_for_units(lock);
      if (waiting() == 0) return;
      take_units(batch);
      writing_ += batch.size();
      if (worth_writing(waiting(), writing_)) filled_.notify_one();
    }
    write(batch);
    // A small one between large ones is no sign of rest.
    const bool alone = std::max(batch.size(), std::exchange(before, batch.size())) <= synced_here_max;
    bool syncing = false;
    {
      const std::lock_guard lock(mutex_);
      writing_ -= batch.size();
      syncing = syncing_ = syncer_.joinable() && !alone;
      // This one has answers to give first.
      if (worth_writing(waiting(), writing_)) filled_.notify_one();
    }
    if (syncing) {
      unsynced_.push(std::move(batch));
    } else if (batch.size() <= answered_here_max) {
      store_.sync();
      answer(batch);
    } else {
      unanswered_.push(std::move(batch));
    }
  }
}

void CommitQueue::run_syncs() {
  while (auto batch = unsynced_.pop()) {
    store_.sync();
    note_progress();
    {
      const std::lock_guard lock(mutex_);
      syncing_ = false;
    }
    filled_.notify_one();
    if (batch->size() <= answered_here_max) {
      answer(*batch);
    } else {
      unanswered_.push(std::move(*batch));
    }
  }
}

void CommitQueue::run_answers() {
  while (auto batch = unanswered_.pop()) answer(*batch);
}

void CommitQueue::Line::push(Batch batch) {
  std::unique_lock lock(mutex_);
  has_room_.wait(lock, [this] { return batches_.size() < line_max; });
  batches_.push_back(std::move(batch));
  filled_.notify_one();
}

std::optional<CommitQueue::Batch> CommitQueue::Line::pop() {
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [this] { return closed_ || !batches_.empty(); });
  if (batches_.empty()) return std::nullopt;
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  has_room_.notify_one();
  return batch;
}

void CommitQueue::Line::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  filled_.notify_all();
}

thread_local const CommitQueue* CommitQueue::committing = nullptr;

void CommitQueue::write(Batch& batch) {
  const CommitQueue* const before = std::exchange(committing, this);
  ++in_commit_;
  if (syncer_.joinable()) {
    batch.outcomes = store_.commit_unsynced(batch.parts.front(), [&] { return take_more(batch); });
  } else {
    batch.outcomes = store_.commit(batch.parts.front());
  }
  --in_commit_;
  note_progress();
  committing = before;
}

void CommitQueue::note_progress() {
  progress_at_ = std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void CommitQueue::note_submitted(std::size_t count) {
  // What was done long ago says nothing about what comes now.
  if (open_ == 0) note_progress();
  open_ += count;
}

std::chrono::nanoseconds CommitQueue::stalled_for() const {
  using std::chrono::nanoseconds;
  if (open_ == 0) return nanoseconds(0);
  const nanoseconds progress_at(progress_at_.load());  // after `open_`: it was set before that
  const auto stalled = nanoseconds(std::chrono::steady_clock::now().time_since_epoch()) - progress_at;
  if (store_.traits().writers > 1 && in_commit_ > 0 && stalled < elsewhere_max) return nanoseconds(0);
  return std::max(stalled, nanoseconds(0));
}

void CommitQueue::answer(Batch& batch) {
  // Whoever has only one thread has nobody to leave the store to.
  std::optional<StoreCallsForbidden> forbidden;
  if (!yield_) forbidden.emplace();
  std::size_t place = 0;
  for (std::vector<Unit>& units : batch.parts) {
    for (Unit& unit : units) {
      Result<CommitOutcome> outcome =
          *batch.outcomes ? Result<CommitOutcome>(std::move((**batch.outcomes)[place])) : batch.outcomes->error();
      batch.answers[place++](std::move(outcome), std::move(unit));
    }
  }
  note_progress();
  open_ -= batch.size();
  give_back(batch);
}

}  // namespace cairn
