#include "coordinator/worker_pool.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "base/clock.h"
#include "cairn/engine.h"
#include "coordinator/coordinator.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn {
namespace {

// Answers when it is told to.
class HeldTransport final : public Transport {
 public:
  const std::string& name() const override { return name_; }
  void send(TransportCall call, Done done) override {
    const std::lock_guard lock(mutex_);
    calls_.emplace_back(std::move(call), std::move(done));
    came_.notify_all();
  }
  // The calls once there are this many.
  std::vector<std::pair<TransportCall, Done>> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return calls_.size() >= count; });
    return std::exchange(calls_, {});
  }

 private:
  const std::string name_ = "held";
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::pair<TransportCall, Done>> calls_;
};

std::unique_ptr<Engine> open(const std::shared_ptr<Transport>& transport = nullptr,
                             std::chrono::milliseconds lease = std::chrono::seconds(30)) {
  EngineOptions options;
  options.workers = 2;
  options.lease = lease;
  options.environment_secrets = false;
  if (transport) options.transports.push_back(transport);
  auto engine = Engine::open(options);
  EXPECT_TRUE(engine) << engine.error().message;
  return std::move(*engine);
}

RunRow submit(Engine& engine, const std::string& type, Json payload = Json(), int attempts = 3) {
  RunOrder order;
  order.type = type;
  order.payload = std::move(payload);
  order.attempts_max = attempts;
  order.backoff = order.cap = Duration::of_ms(1);
  return engine.coordinator().submit_run(order)->first;
}

RunRow until_final(Engine& engine, const RunId& id) {
  for (;;) {
    const RunRow run = engine.store().find_run(id)->value();
    if (is_final(run.status)) return run;
    std::this_thread::yield();
  }
}

TEST(WorkerPool, ExecutesHandlers) {
  auto engine = open();
  engine->handle("t", [](const Work& work) { return WorkDone(work.payload); });
  engine->run();
  std::vector<RunRow> runs;
  for (int i = 0; i < 300; ++i) runs.push_back(submit(*engine, "t", i));
  for (int i = 0; i < 300; ++i) EXPECT_EQ(until_final(*engine, runs[static_cast<std::size_t>(i)].id).result, Json(i));
}

// Fails the first questions for runs.
class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override {
    if (failures.fetch_sub(1) > 0) return Error{ErrorCode::unavailable, "not now"};
    return ForwardingStore::lease_runs(request);
  }
  std::atomic<int> failures = 2;
};

TEST(WorkerPool, AsksAgainWhenTheStoreCouldNotAnswer) {
  SystemClock clock;
  MemoryStore memory(clock);
  RunRow run;
  run.id = {"a"};
  run.type = "t";
  ASSERT_TRUE(memory.submit_run(run));
  FailingStore store(memory);
  const auto coordinator = std::move(*Coordinator::open(store, {}));
  std::promise<void> handled;
  WorkerPool pool(*coordinator, 1, Duration::of_seconds(30));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    handled.set_value();
    return HandlerAnswer{};
  });
  pool.start();
  EXPECT_EQ(handled.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  pool.stop();
}

// Commits only when it is told to.
class GatedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    if (!began_once_.exchange(true)) began_.count_down();
    gate_.wait();
    return ForwardingStore::commit(units);
  }
  void wait_for_commit() { began_.wait(); }
  void open() { gate_.count_down(); }

 private:
  std::atomic<bool> began_once_ = false;
  std::latch began_{1};
  std::latch gate_{1};
};

// The only thread for handlers is not the one that waits for the commit.
TEST(WorkerPool, TheNextRunDoesNotWaitForACommit) {
  SystemClock clock;
  MemoryStore memory(clock);
  GatedStore store(memory);
  const auto coordinator = std::move(*Coordinator::open(store, {}));
  std::promise<void> second;
  std::atomic<int> handled = 0;
  WorkerPool pool(*coordinator, 1, Duration::of_seconds(30));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    if (++handled == 2) second.set_value();
    return HandlerAnswer{};
  });
  RunRow run;
  run.type = "t";
  run.id = {"a"};
  ASSERT_TRUE(memory.submit_run(run));
  pool.start();
  store.wait_for_commit();
  run.id = {"b"};
  ASSERT_TRUE(memory.submit_run(run));
  pool.look();
  EXPECT_EQ(second.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  store.open();
  pool.stop();
  for (const char* id : {"a", "b"}) EXPECT_EQ((*memory.find_run({id}))->status, RunStatus::succeeded);
}

// Ends runs by itself.
class DirectStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  bool ends_runs_directly() const override { return true; }
  Result<std::vector<CommitOutcome>> end_runs(std::span<const RunEnd> ends) override {
    std::vector<Unit> units(ends.size());
    for (std::size_t i = 0; i < ends.size(); ++i) units[i].run = ends[i];
    ended += ends.size();
    return ForwardingStore::commit(units);
  }
  std::atomic<std::size_t> ended = 0;
};

TEST(WorkerPool, ManyReportsGoToTheStoreDirectly) {
  SystemClock clock;
  MemoryStore memory(clock);
  DirectStore store(memory);
  const auto coordinator = std::move(*Coordinator::open(store, {}));
  std::vector<RunReport> reports;
  for (int i = 0; i < 100; ++i) {
    RunRow run;
    run.id = {"r" + std::to_string(i)};
    run.type = "t";
    ASSERT_TRUE(memory.submit_run(run));
  }
  const auto leased = memory.lease_runs({"w", {}, {"t"}, 100, Duration::of_seconds(30)});
  ASSERT_TRUE(leased);
  for (const RunRow& run : *leased) {
    RunReport report;
    report.run = run.id;
    report.fence = run.fence;
    report.result = Json(run.id.value);
    report.worker = "w";
    report.leased = run;
    reports.push_back(std::move(report));
  }
  ASSERT_EQ(reports.size(), 100u);
  reports[7].fence += 1;  // not its lease
  reports[8].failure = Failure{FailureClass::business, "no", "", Json(), 1, "", ""};
  reports[8].retry = false;
  const auto answers = coordinator->report_all(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].error().message;
    EXPECT_EQ(*answers[i], i == 7 ? RunAnswer::lease_lost : RunAnswer::finished) << i;
    const auto row = *memory.find_run(reports[i].run);
    EXPECT_EQ(row->status, i == 7 ? RunStatus::leased : i == 8 ? RunStatus::failed : RunStatus::succeeded) << i;
    if (i > 8) {
      EXPECT_EQ(row->result, Json(row->id.value));
    }
  }
  EXPECT_EQ(store.ended, 100u);
}

TEST(WorkerPool, WhatAHandlerThrowsIsItsFailure) {
  auto engine = open();
  engine->handle("t", [](const Work& work) -> WorkDone {
    if (work.attempt < 2) throw std::runtime_error("not yet");
    return Json(work.attempt);
  });
  engine->run();
  const RunRow run = until_final(*engine, submit(*engine, "t").id);
  EXPECT_EQ(run.result, Json(2));
  EXPECT_EQ(run.last_error, "handler_threw: not yet");
}

TEST(WorkerPool, HasManyCallsOfATransportUnderWay) {
  const auto held = std::make_shared<HeldTransport>();
  auto engine = open(held);
  engine->run();
  std::vector<RunId> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(submit(*engine, "cairn.held.v1", i).id);
  for (auto& [call, done] : held->wait(100)) done({call.request, std::nullopt, true, std::nullopt});
  for (const RunId& id : ids) EXPECT_EQ(until_final(*engine, id).status, RunStatus::succeeded);
}

TEST(WorkerPool, ATransportsFailureIsTriedAgainAsItAsks) {
  const auto held = std::make_shared<HeldTransport>();
  auto engine = open(held);
  engine->run();
  const RunId id = submit(*engine, "cairn.held.v1").id;
  const Failure busy{FailureClass::transport, "http_503", "busy", Json(), 1, "", ""};
  held->wait(1).front().second({Json(), busy, true, Duration()});
  auto again = held->wait(1);
  EXPECT_EQ(again.front().first.attempt, 2);
  Failure gone = busy;
  gone.code = "http_404";
  again.front().second({Json(), gone, true, std::nullopt});
  const RunRow run = until_final(*engine, id);
  EXPECT_EQ(run.status, RunStatus::failed);
  EXPECT_EQ(run.last_error, "http_404: busy");
}

TEST(WorkerPool, ACancelledRunAsksItsHandlerToStop) {
  auto engine = open(nullptr, std::chrono::milliseconds(60));
  std::promise<void> begun;
  std::promise<void> stopped;
  engine->handle("t", [&](const Work& work) {
    begun.set_value();
    std::promise<void> asked;
    const std::stop_callback when(work.stop, [&] { asked.set_value(); });
    asked.get_future().wait();
    stopped.set_value();
    return WorkDone(Json("late"));
  });
  engine->run();
  const RunId id = submit(*engine, "t").id;
  begun.get_future().wait();
  ASSERT_TRUE(engine->coordinator().cancel_run(id, {}));
  stopped.get_future().wait();
  engine->stop();
  EXPECT_EQ(engine->store().find_run(id)->value().status, RunStatus::cancelled);
}

TEST(WorkerPool, StoppingGivesBackCallsThatDoNotEnd) {
  SystemClock clock;
  MemoryStore store(clock);
  auto coordinator = Coordinator::open(store, {});
  ASSERT_TRUE(coordinator);
  HeldTransport held;
  RunOrder order;
  order.type = "cairn.held.v1";
  const RunId id = (*coordinator)->submit_run(order)->first.id;
  WorkerPool pool(**coordinator, 2, Duration::of_seconds(30));
  pool.carry(held);
  pool.start();
  auto calls = held.wait(1);
  pool.stop(std::chrono::milliseconds(1));
  const RunRow run = store.find_run(id)->value();
  EXPECT_EQ(run.status, RunStatus::pending);
  EXPECT_EQ(run.attempt, 0);
}

TEST(WorkerPool, AnotherTransportOfTheSameNameIsRefused) {
  EngineOptions options;
  options.transports = {std::make_shared<HeldTransport>(), std::make_shared<HeldTransport>()};
  EXPECT_FALSE(Engine::open(options));
}

}  // namespace
}  // namespace cairn
