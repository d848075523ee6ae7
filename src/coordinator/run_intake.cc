#include "coordinator/run_intake.h"

namespace cairn {

RunIntake::RunIntake(Store& store) : store_(store) {}

RunIntake::~RunIntake() { stop(); }

void RunIntake::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  filled_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void RunIntake::submit(RunRow run, Answer answer) {
  Error refused{ErrorCode::limit, "too many runs wait for the store; try again later"};
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      refused = {ErrorCode::unavailable, "the engine is stopping"};
    } else if (waiting_.size() < waiting_max) {
      waiting_.emplace_back(std::move(run), std::move(answer));
      if (!writer_.joinable()) writer_ = std::jthread([this] { write(); });
      filled_.notify_one();
      return;
    }
  }
  answer(refused);
}

void RunIntake::write() {
  std::vector<RunRow> runs;
  std::vector<Answer> answers;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      while (!waiting_.empty() && runs.size() < batch_max) {
        runs.push_back(std::move(waiting_.front().first));
        answers.push_back(std::move(waiting_.front().second));
        waiting_.pop_front();
      }
    }
    auto submitted = store_.submit_runs(runs);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (submitted) {
        answers[i](std::move((*submitted)[i]));
      } else {
        answers[i](submitted.error());
      }
    }
    runs.clear();
    answers.clear();
  }
}

}  // namespace cairn
