#include "engine/commit/answer_thread.h"

#include "store/store_calls.h"

namespace cairn {

namespace {

constexpr std::size_t answered_here_max = 8;

}  // namespace

void AnswerThread::give(CommitBatch batch) {
  if (batch.size() <= answered_here_max) return answer(batch);
  unanswered_.push(std::move(batch));
}

void AnswerThread::answer(CommitBatch& batch) {
  const StoreCallsForbidden forbidden;
  batch.answer();
  backlog_.answered(batch);
}

void AnswerThread::run() {
  while (auto batch = unanswered_.pop()) answer(*batch);
}

void AnswerThread::stop() {
  unanswered_.close();
  if (thread_.joinable()) thread_.join();
}

}  // namespace cairn
