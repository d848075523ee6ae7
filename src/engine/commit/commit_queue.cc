#include "engine/commit/commit_queue.h"

#include <memory>
#include <utility>

#include "store/report_dead_letter.h"
#include "store/store_calls.h"

namespace cairn {

CommitQueue::CommitQueue(Store& store, std::function<void()> yield, std::chrono::milliseconds quiet,
                         std::size_t waiting_max)
    : store_(store),
      progress_(store.traits().shared),
      backlog_(yield ? 0 : store.traits().writers, progress_, waiting_max),
      commit_(store, backlog_, progress_, !yield && store.traits().commits_unsynced) {
  const StoreTraits& traits = store.traits();
  if (yield) {
    inline_writer_.emplace(backlog_, commit_, traits.writers, std::move(yield));
    return;
  }
  answers_.emplace(backlog_);
  if (traits.commits_unsynced) syncs_.emplace(store, backlog_, progress_, *answers_);
  const CommitWriter::Parts parts{store, backlog_, commit_, *answers_, syncs_ ? &*syncs_ : nullptr, quiet};
  for (std::size_t i = 0; i < traits.writers; ++i) writers_.emplace_back(parts);
}

CommitQueue::~CommitQueue() { stop(); }

// In the order in which batches pass the threads, so that none is left behind.
void CommitQueue::stop() {
  backlog_.stop();
  while (inline_writer_ && inline_writer_->write_queued()) {
  }
  for (CommitWriter& writer : writers_) writer.join();
  if (syncs_) syncs_->stop();
  if (answers_) answers_->stop();
}

namespace {

void report_dead_letters(const Result<CommitOutcome>& written, const Unit& unit) {
  if (!written || written->kind != CommitOutcome::Kind::done) return;
  for (const DeadLetter& letter : unit.dead_letters) report_dead_letter(letter);
}

}  // namespace

void CommitQueue::submit(Unit unit, CommitAnswer answer) {
  if (!unit.dead_letters.empty()) {
    answer = [answer = std::move(answer)](Result<CommitOutcome> written, Unit&& back) {
      report_dead_letters(written, back);
      answer(std::move(written), std::move(back));
    };
  }
  if (store_.traits().keeps_encoded) encode_ahead(unit, store_.traits().piece_bytes_min);
  if (auto refused = backlog_.add(unit, answer)) answer(std::move(*refused), std::move(unit));
}

void CommitQueue::submit_all(std::vector<Unit> units, std::function<void(std::size_t, Result<CommitOutcome>)> answer) {
  if (units.empty()) return;
  if (store_.traits().keeps_encoded) {
    for (Unit& unit : units) encode_ahead(unit, store_.traits().piece_bytes_min);
  }
  // All entries share one function, until the last of them is answered.
  const auto shared = std::make_shared<std::function<void(std::size_t, Result<CommitOutcome>)>>(std::move(answer));
  std::vector<CommitAnswer> answers;
  answers.reserve(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    answers.emplace_back([shared, i](Result<CommitOutcome> outcome, const Unit& unit) {
      report_dead_letters(outcome, unit);
      (*shared)(i, std::move(outcome));
    });
  }
  std::size_t added = backlog_.add_all(units, answers);
  if (added == units.size()) return;
  const Error refused = backlog_.refusal();
  for (; added < units.size(); ++added) (*shared)(added, refused);
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
  // Notifies under the lock: the waiter destroys this object as soon as it can see the last answer.
  const std::lock_guard lock(mutex_);
  if (--open_ == 0) changed_.notify_one();
}

void CommitQueue::Expected::wait() {
  if (queue_.inline_writer_) return queue_.inline_writer_->run_until([this] { return open_ == 0; });
  check_store_call();  // a thread of the queue would wait for itself
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return open_ == 0; });
}

}  // namespace cairn
