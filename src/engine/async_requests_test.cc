// No request blocks its thread: each returns while the store is still busy with it.
#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "base/clock.h"
#include "base/limit_refusals.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/audit_scope.h"
#include "store/open.h"
#include "stores/forwarding_store.h"

namespace cairn {
namespace {

constexpr const char* asking_async = R"(
cairn: 1
name: asking
version: 1.0.0
steps:
  - task: { name: approve, result: answer }
output: = state.answer
)";

// Its writes wait until the gate opens, if it has one.
class HeldWrites final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<SignalOutcome> record_signal(const CorrelatedSignal& signal) override {
    wait();
    return ForwardingStore::record_signal(signal);
  }
  Result<TaskChanged> change_task(const TaskChange& change) override {
    wait();
    return ForwardingStore::change_task(change);
  }
  Result<RunChanged> change_run(const RunChange& change) override {
    wait();
    return ForwardingStore::change_run(change);
  }
  Result<std::vector<bool>> submit_runs(std::span<RunRow> runs) override {
    wait();
    return ForwardingStore::submit_runs(runs);
  }
  Result<bool> mark_deleted(const InstanceId& id, const std::string& reason) override {
    wait();
    return ForwardingStore::mark_deleted(id, reason);
  }
  // Returns when so many writes wait.
  void wait_for_waiting(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return waiting_ >= count; });
  }
  std::latch* gate = nullptr;
  std::thread::id writer;
  AuditScope* scope = nullptr;

 private:
  void wait() {
    if (gate == nullptr) return;
    {
      const std::lock_guard lock(mutex_);
      writer = std::this_thread::get_id();
      scope = AuditScope::current();
      ++waiting_;
      came_.notify_all();
    }
    gate->wait();
  }

  std::mutex mutex_;
  std::condition_variable came_;
  std::size_t waiting_ = 0;  // writes that have reached a gate
};

class AsyncRequestsTest : public testing::Test {
 protected:
  AsyncRequestsTest() { EXPECT_TRUE(core_->registry().deploy(load_definition(asking_async, "test.yaml").program)); }

  // Makes a request while the store is held, lets the store continue and returns the answer.
  template <class Answer, class Ask>
  Answer ask(const Ask& request) {
    std::latch gate(1);
    held_.gate = &gate;
    std::promise<Answer> answered;
    AuditScope scope({});
    {
      const AuditScope::Enter enter(scope);
      request(Done<Answer>([&](Answer answer) { answered.set_value(std::move(answer)); }));
    }
    gate.count_down();
    Answer answer = answered.get_future().get();
    held_.gate = nullptr;
    EXPECT_NE(held_.writer, std::this_thread::get_id());
    EXPECT_EQ(held_.scope, &scope) << "the write belongs to the caller's audit scope";
    return answer;
  }
  InstanceId start() {
    StartRequest request;
    request.definition = "asking";
    return core_->instances().start(std::move(request))->instance;
  }
  RunId submit() {
    RunRequest request;
    request.type = "demo.work.v1";
    return core_->runs().submit(request)->first.id;
  }

  SystemClock clock_;
  std::unique_ptr<Store> store_ = std::move(*open_store("memory:", clock_));
  HeldWrites held_{*store_};
  std::unique_ptr<EngineCore> core_ = std::move(*EngineCore::open(held_, {}));
};

TEST_F(AsyncRequestsTest, Broadcast) {
  SignalRequest request;
  request.name = "paid";
  const auto one =
      ask<Result<SignalOutcome>>([&](auto done) { core_->instances().broadcast(request, std::move(done)); });
  ASSERT_TRUE(one);
  EXPECT_TRUE(one->kept);
  SignalRequest unnamed;
  const auto two = ask<Result<std::vector<SignalOutcome>>>([&](auto done) {
    core_->instances().broadcast_all({request, request}, std::move(done));
  });
  ASSERT_TRUE(two);
  EXPECT_EQ(two->size(), 2u);
  const auto stopped = ask<Result<std::vector<SignalOutcome>>>([&](auto done) {
    core_->instances().broadcast_all({request, unnamed, request}, std::move(done));
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::invalid);
}

TEST_F(AsyncRequestsTest, RemoveAnInstance) {
  const InstanceId id = start();
  const auto refused = ask<Result<void>>([&](auto done) { core_->instances().remove(id, "tidy", std::move(done)); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  ASSERT_TRUE(core_->instances().request(id, CancelRequested{"done"}, {}));
  EXPECT_TRUE(ask<Result<void>>([&](auto done) { core_->instances().remove(id, "tidy", std::move(done)); }));
}

TEST_F(AsyncRequestsTest, ChangeATask) {
  const InstanceId id = start();
  TaskChange change;
  change.kind = TaskChange::Kind::assign;
  change.task = store_->list_tasks({}, {})->items.at(0).id;
  change.assignee = "ann";
  const auto row =
      ask<Result<TaskRow>>([&](auto done) { core_->tasks().change(change, {"ann"}, {}, std::move(done)); });
  ASSERT_TRUE(row) << row.error().message;
  EXPECT_EQ(row->assignee, "ann");
}

TEST_F(AsyncRequestsTest, SubmitManyRuns) {
  std::vector<RunRequest> requests(3);
  for (RunRequest& request : requests) request.type = "demo.work.v1";
  const auto submitted =
      ask<Result<SubmittedRuns>>([&](auto done) { core_->runs().submit_all(requests, std::move(done)); });
  ASSERT_TRUE(submitted);
  EXPECT_EQ(submitted->rows.size(), 3u);
}

TEST_F(AsyncRequestsTest, CancelAndRemoveARun) {
  const RunId run = submit();
  const auto cancelled = ask<Result<RunRow>>([&](auto done) { core_->runs().cancel(run, {"ann"}, std::move(done)); });
  ASSERT_TRUE(cancelled);
  EXPECT_EQ(cancelled->status, RunStatus::cancelled);
  EXPECT_TRUE(ask<Result<RunRow>>([&](auto done) { core_->runs().remove(run, "tidy", {"ann"}, std::move(done)); }));
}

TEST_F(AsyncRequestsTest, ASlowWriteDoesNotDelayTheNext) {
  std::latch gate(1);
  held_.gate = &gate;
  std::promise<Result<SignalOutcome>> slow;
  SignalRequest signal;
  signal.name = "paid";
  core_->instances().broadcast(signal, [&](Result<SignalOutcome> outcome) { slow.set_value(std::move(outcome)); });
  std::promise<Result<void>> quick;  // it reads, and writes nothing
  core_->instances().remove({"unknown"}, "tidy", [&](Result<void> removed) { quick.set_value(std::move(removed)); });
  auto answered = quick.get_future();
  EXPECT_EQ(answered.wait_for(std::chrono::seconds(30)), std::future_status::ready);
  gate.count_down();
  EXPECT_EQ(answered.get().error().code, ErrorCode::not_found);
  EXPECT_TRUE(slow.get_future().get());
  held_.gate = nullptr;
}

TEST_F(AsyncRequestsTest, WritesAreRefusedWhileTooManyWait) {
  const std::size_t threads = Deliveries::writes_threads_max;
  const std::size_t waiting_max = Limits().writes_waiting_max;
  const std::size_t accepted = waiting_max + threads;
  std::latch gate(1), answered(static_cast<std::ptrdiff_t>(accepted));
  held_.gate = &gate;
  std::vector<RunRequest> requests(1);
  requests[0].type = "demo.work.v1";
  std::atomic<std::size_t> submitted = 0;
  for (std::size_t i = 0; i < accepted; ++i) {
    // The threads take the first ones, and each waits there.
    if (i == threads) held_.wait_for_waiting(threads);
    core_->runs().submit_all(requests, [&](const Result<SubmittedRuns>& runs) {
      if (runs) ++submitted;
      answered.count_down();
    });
  }
  std::optional<Error> refused;
  core_->runs().submit_all(requests, [&](const Result<SubmittedRuns>& runs) { refused = runs.error(); });
  gate.count_down();
  answered.wait();
  ASSERT_TRUE(refused) << "it was not answered at once";
  EXPECT_EQ(refused->code, ErrorCode::unavailable);
  EXPECT_EQ(limit_of(*refused), (LimitRefusal{"limits.writes_waiting_max", static_cast<std::int64_t>(waiting_max)}));
  EXPECT_EQ(submitted, accepted);
  held_.gate = nullptr;
  EXPECT_TRUE(core_->runs().submit_all(requests)) << "the queue has room again";
}

// An answer runs on a thread of the queue, which may not call the store. Requests made there work too.
TEST_F(AsyncRequestsTest, AnAnswerMayMakeRequests) {
  const RunId run = submit();
  std::promise<Result<RunRow>> cancelled;
  std::promise<Result<SignalOutcome>> sent;
  StartRequest request;
  request.definition = "asking";
  core_->instances().start(std::move(request), [&](const Result<InstanceAnswer>&) {
    core_->runs().cancel(run, {"ann"}, [&](Result<RunRow> row) { cancelled.set_value(std::move(row)); });
    SignalRequest signal;
    signal.name = "paid";
    core_->instances().broadcast(signal, [&](Result<SignalOutcome> outcome) { sent.set_value(std::move(outcome)); });
  });
  EXPECT_TRUE(cancelled.get_future().get());
  EXPECT_TRUE(sent.get_future().get());
}

}  // namespace
}  // namespace cairn
