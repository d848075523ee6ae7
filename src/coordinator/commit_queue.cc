#include "coordinator/commit_queue.h"

#include <optional>

namespace cairn {

CommitQueue::CommitQueue(Store& store, Writer writer) : store_(store), kind_(writer) {
  if (kind_ == Writer::thread) writer_ = std::jthread([this] { run(); });
}

CommitQueue::~CommitQueue() { stop(); }

void CommitQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  filled_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void CommitQueue::submit(Unit unit, Answer answer) {
  Error refused{ErrorCode::limit, "too many commits wait for the store; try again later"};
  {
    std::unique_lock lock(mutex_);
    if (stopping_) {
      refused = {ErrorCode::unavailable, "the engine is stopping"};
    } else if (kind_ == Writer::by_caller) {
      lock.unlock();
      auto outcomes = store_.commit({&unit, 1});
      return outcomes ? answer(std::move(outcomes->front())) : answer(outcomes.error());
    } else if (waiting_.size() < waiting_max) {
      waiting_.push_back({std::move(unit), std::move(answer)});
      filled_.notify_one();
      return;
    }
  }
  answer(refused);
}

Result<CommitOutcome> CommitQueue::commit(Unit unit) {
  std::mutex mutex;
  std::condition_variable answered;
  std::optional<Result<CommitOutcome>> outcome;
  submit(std::move(unit), [&](Result<CommitOutcome> given) {
    // Notified under the lock: the waiter owns all of this and is gone as soon as it can see the answer.
    const std::lock_guard lock(mutex);
    outcome = std::move(given);
    answered.notify_one();
  });
  std::unique_lock lock(mutex);
  answered.wait(lock, [&] { return outcome.has_value(); });
  return std::move(*outcome);
}

void CommitQueue::run() {
  std::vector<Unit> units;
  std::vector<Answer> answers;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      while (!waiting_.empty() && units.size() < batch_max) {
        units.push_back(std::move(waiting_.front().unit));
        answers.push_back(std::move(waiting_.front().answer));
        waiting_.pop_front();
      }
    }
    auto outcomes = store_.commit(units);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (outcomes) {
        answers[i](std::move((*outcomes)[i]));
      } else {
        answers[i](outcomes.error());
      }
    }
    units.clear();
    answers.clear();
  }
}

}  // namespace cairn
