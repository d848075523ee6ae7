#include "runs/run_intake.h"

#include <algorithm>
#include <iterator>

#include "base/limit_refusals.h"
#include "store/audit_scope.h"

namespace cairn {

RunIntake::RunIntake(RunStore& runs, AccessStore& audit, std::size_t waiting_max)
    : runs_(runs), audit_(audit), waiting_max_(waiting_max) {}

RunIntake::~RunIntake() { stop(); }

void RunIntake::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  filled_.notify_all();
  for (std::jthread& writer : writers_) {
    if (writer.joinable()) writer.join();
  }
}

void RunIntake::submit(RunRow run, Done<Result<SubmittedRun>> done) {
  Error refused{ErrorCode::unavailable, "the engine is stopping"};
  PendingAuditRows pending_audit;
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ && waiting_.size() >= waiting_max_) {
      refused = overload_error("limits.runs_waiting_max", static_cast<std::int64_t>(waiting_max_),
                               "too many runs wait for the store; try again later");
    } else if (!stopping_) {
      waiting_.push_back({std::move(run), std::move(done), pending_audit.rows()});
      pending_audit.written();
      while (writers_.size() < std::min<std::size_t>(2, runs_.traits().writers)) {
        writers_.emplace_back([this] { write(); });
      }
      filled_.notify_one();
      return;
    }
  }
  done(refused);
}

void RunIntake::write() {
  std::vector<RunRow> runs;
  std::vector<Done<Result<SubmittedRun>>> answers;
  std::vector<AuditRow> audit;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      while (!waiting_.empty() && runs.size() < batch_max) {
        Entry& entry = waiting_.front();
        runs.push_back(std::move(entry.run));
        answers.push_back(std::move(entry.done));
        std::move(entry.audit.begin(), entry.audit.end(), std::back_inserter(audit));
        waiting_.pop_front();
      }
    }
    AuditScope audit_scope(std::move(audit));
    const auto submitted = [&] {
      const AuditScope::Enter scope(audit_scope);
      return runs_.submit_runs(runs);
    }();
    audit = audit_scope.take();
    if (submitted && !audit.empty()) static_cast<void>(audit_.append_audit(audit));  // duplicates: nothing was written
    audit.clear();
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (submitted) {
        answers[i](SubmittedRun(std::move(runs[i]), (*submitted)[i]));
      } else {
        answers[i](submitted.error());
      }
    }
    runs.clear();
    answers.clear();
  }
}

}  // namespace cairn
