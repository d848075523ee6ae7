#include "node/worker_pool.h"

#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "base/clock.h"
#include "cairn/engine.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn::node {
namespace {

// Answers only when the test says so.
class HeldTransport final : public Transport {
 public:
  const std::string& name() const override { return name_; }
  void send(TransportCall call, Done done) override {
    const std::lock_guard lock(mutex_);
    calls_.emplace_back(std::move(call), std::move(done));
    came_.notify_all();
  }
  // Returns the calls when there are this many.
  std::vector<std::pair<TransportCall, Done>> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return calls_.size() >= count; });
    return std::exchange(calls_, {});
  }
  // The calls so far.
  std::vector<std::pair<TransportCall, Done>> take() {
    const std::lock_guard lock(mutex_);
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
  RunRequest request;
  request.type = type;
  request.payload = std::move(payload);
  request.attempts_max = attempts;
  request.backoff = request.cap = Duration::of_ms(1);
  return engine.core().runs().submit(request)->first;
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

TEST(WorkerPool, CallsDoNotWaitForSlowHandlers) {
  const auto held = std::make_shared<HeldTransport>();
  auto engine = open(held);
  std::latch busy(2);
  std::promise<void> called;
  const std::shared_future<void> was_called = called.get_future();
  std::atomic<int> ended = 0;
  engine->handle("slow", [&](const Work&) {
    busy.count_down();
    was_called.wait_for(std::chrono::seconds(30));
    ++ended;
    return WorkDone(Json());
  });
  engine->run();
  const RunRow first = submit(*engine, "slow");
  const RunRow second = submit(*engine, "slow");
  busy.wait();  // all threads of the handlers are at work
  const RunRow call = submit(*engine, run_type_of("held"));
  const auto calls = held->wait(1);
  EXPECT_EQ(ended, 0);
  called.set_value();
  calls.front().second({Json("answer"), std::nullopt, true, std::nullopt});
  EXPECT_EQ(until_final(*engine, call.id).result, Json("answer"));
  until_final(*engine, first.id);
  until_final(*engine, second.id);
}

// Fails the first lease requests.
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
  const auto core = std::move(*EngineCore::open(store, {}));
  std::promise<void> handled;
  WorkerPool pool(*core, 1, Duration::of_seconds(30));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    handled.set_value();
    return HandlerAnswer{};
  });
  pool.start();
  EXPECT_EQ(handled.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  pool.stop();
}

// Takes no ends and no retries of runs while it is away. May refuse every result, but takes failures.
class AwayStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    if (is_away()) return Error{ErrorCode::unavailable, "not now"};
    for (const Unit& unit : units) {
      if (!refuses || !unit.run || unit.run->status != RunStatus::succeeded) continue;
      ++refused;
      return Error{*refuses, "never"};
    }
    return ForwardingStore::commit(units);
  }
  Result<RunChanged> change_run(const RunChange& change) override {
    if (change.kind == RunChange::Kind::retry && is_away()) return Error{ErrorCode::unavailable, "not now"};
    return ForwardingStore::change_run(change);
  }
  void wait_for_failure() {
    std::unique_lock lock(mutex_);
    failed_.wait(lock, [this] { return failures_ > 0; });
  }
  std::atomic<int> away = 0;  // for so many calls
  std::optional<ErrorCode> refuses;
  std::atomic<int> refused = 0;

 private:
  bool is_away() {
    if (away.fetch_sub(1) <= 0) return false;
    const std::lock_guard lock(mutex_);
    ++failures_;
    failed_.notify_all();
    return true;
  }
  std::mutex mutex_;
  std::condition_variable failed_;
  int failures_ = 0;
};

class KeptResults : public testing::Test {
 protected:
  void SetUp() override {
    RunRow run;
    run.id = {"a"};
    run.type = "t";
    run.attempts_max = 3;
    run.backoff = Duration::of_ms(1);
    ASSERT_TRUE(memory_.submit_run(run));
    core_ = std::move(*EngineCore::open(store_, {}));
    const ReportPatience patience{std::chrono::milliseconds(1), std::chrono::milliseconds(50), 4};
    pool_ = std::make_unique<WorkerPool>(*core_, 1, Duration::of_seconds(3600), patience);
  }
  void start(HandlerAnswer answer) {
    pool_->handle("t", [this, answer = std::move(answer)](const RunRow&, const std::stop_token&) {
      ++executed_;
      return answer;
    });
    pool_->start();
  }
  RunRow run() { return (*memory_.find_run({"a"})).value(); }
  // Whether it gets there soon.
  bool becomes(RunStatus status) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (run().status != status) {
      pool_->look();  // for the next attempt
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::yield();
    }
    return true;
  }

  SystemClock clock_;
  MemoryStore memory_{clock_};
  AwayStore store_{memory_};
  std::unique_ptr<EngineCore> core_;
  std::unique_ptr<WorkerPool> pool_;
  std::atomic<int> executed_ = 0;
};

TEST_F(KeptResults, AResultIsReportedAgainUntilTheStoreTakesIt) {
  store_.away = 3;
  start({Json("done"), {}, true, {}});
  EXPECT_TRUE(becomes(RunStatus::succeeded));
  pool_->stop();
  EXPECT_EQ(run().result, Json("done"));
  EXPECT_EQ(executed_, 1);
}

TEST_F(KeptResults, AFailureIsReportedAgainToo) {
  store_.away = 3;
  start({Json(), Failure{FailureClass::transport, "no", "", Json(), 1, "", ""}, true, Duration::of_seconds(3600)});
  store_.wait_for_failure();
  // A stop waits for it.
  pool_->stop(std::chrono::seconds(20));
  EXPECT_EQ(run().status, RunStatus::pending);
  EXPECT_EQ(run().attempt, 1);
  EXPECT_EQ(executed_, 1);
}

TEST_F(KeptResults, AnOutageDoesNotCountAsARefusal) {
  store_.away = 10;
  start({Json("done"), {}, true, {}});
  EXPECT_TRUE(becomes(RunStatus::succeeded));
  pool_->stop();
  EXPECT_EQ(run().result, Json("done"));
  EXPECT_EQ(executed_, 1);
}

TEST_F(KeptResults, AResultThatTheStoreWillNotTakeIsAFailedAttempt) {
  store_.refuses = ErrorCode::invalid;
  start({Json("done"), {}, true, {}});
  EXPECT_TRUE(becomes(RunStatus::failed));
  pool_->stop();
  EXPECT_EQ(store_.refused, 1);
  EXPECT_EQ(run().error["code"], Json("report_refused"));
  EXPECT_EQ(run().error["message"], Json("the store did not take the result: never"));
  EXPECT_EQ(executed_, 1);
}

TEST_F(KeptResults, AResultIsNotReportedForEver) {
  store_.refuses = ErrorCode::limit;
  start({Json("done"), {}, true, {}});
  // The attempt has failed, and the next one fails the same way.
  EXPECT_TRUE(becomes(RunStatus::failed));
  pool_->stop();
  EXPECT_EQ(store_.refused, 4 * 3);
  EXPECT_EQ(executed_, 3);
}

TEST_F(KeptResults, AStopReportsOnceMoreAndGivesNothingBack) {
  store_.away = 1'000'000;
  start({Json("done"), {}, true, {}});
  store_.wait_for_failure();
  pool_->stop(std::chrono::milliseconds(1));
  EXPECT_EQ(run().status, RunStatus::leased) << "what was executed must not begin at once elsewhere";
  EXPECT_EQ(executed_, 1);
}

// Commits only when the test opens the gate.
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

// The thread that waits for the commit is not the only handler thread.
TEST(WorkerPool, TheNextRunDoesNotWaitForACommit) {
  SystemClock clock;
  MemoryStore memory(clock);
  GatedStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  std::promise<void> second;
  std::atomic<int> handled = 0;
  WorkerPool pool(*core, 1, Duration::of_seconds(30));
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

// Ends runs itself.
class DirectStore final : public ForwardingStore {
 public:
  explicit DirectStore(Store& behind) : ForwardingStore(behind) { traits_.ends_runs_directly = true; }
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
  const auto core = std::move(*EngineCore::open(store, {}));
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
  reports[7].fence += 1;  // a wrong fence
  reports[8].failure = Failure{FailureClass::business, "no", "", Json(), 1, "", ""};
  reports[8].retry = false;
  const auto answers = core->reports().report_all(reports);
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
  EXPECT_EQ(engine->core().counts().retries(), (WorkflowCounts::ByName{{"t", 1}}));
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
  EXPECT_EQ(engine->core().counts().retries(), (WorkflowCounts::ByName{{"cairn.held.v1", 1}}));
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
  ASSERT_TRUE(engine->core().runs().cancel(id, {}));
  stopped.get_future().wait();
  engine->stop();
  EXPECT_EQ(engine->store().find_run(id)->value().status, RunStatus::cancelled);
}

TEST(WorkerPool, WhateverAHandlerThrowsIsItsFailure) {
  auto engine = open();
  engine->handle("t", [](const Work&) -> WorkDone { throw 7; });
  engine->run();
  const RunRow run = until_final(*engine, submit(*engine, "t", Json(), 1).id);
  EXPECT_EQ(run.status, RunStatus::failed);
  EXPECT_TRUE(run.last_error.starts_with("handler_threw: ")) << run.last_error;
}

// Throws instead of answering, or after it has answered.
class ThrowingTransport final : public Transport {
 public:
  const std::string& name() const override { return name_; }
  void send(TransportCall call, Done done) override {
    if (call.request == Json("late")) done({call.request, std::nullopt, true, std::nullopt});
    throw std::string("not an exception");
  }

 private:
  const std::string name_ = "throwing";
};

TEST(WorkerPool, WhateverATransportThrowsIsTheAttemptsFailure) {
  auto engine = open(std::make_shared<ThrowingTransport>());
  engine->run();
  const RunRow run = until_final(*engine, submit(*engine, "cairn.throwing.v1", Json(), 1).id);
  EXPECT_TRUE(run.last_error.starts_with("transport_threw: ")) << run.last_error;
  EXPECT_EQ(until_final(*engine, submit(*engine, "cairn.throwing.v1", "late", 1).id).status, RunStatus::succeeded);
}

TEST(WorkerPool, AHandlerMayStopTheEngine) {
  auto engine = open();
  std::promise<void> asked;
  engine->handle("t", [&](const Work&) {
    engine->stop();
    engine->stop();
    asked.set_value();
    return WorkDone(Json("done"));
  });
  engine->run();
  const RunId id = submit(*engine, "t").id;
  asked.get_future().wait();
  engine->stop();
  EXPECT_EQ(engine->store().find_run(id)->value().status, RunStatus::succeeded);
}

TEST(WorkerPool, ACallbackMayStopTheEngine) {
  auto engine = open();
  ASSERT_TRUE(engine->deploy("cairn: 1\nname: quick\nversion: 1.0.0\nsteps: [ { set: { a: 1 } } ]\n"));
  std::promise<void> told, answered;
  engine->on_ended([&](const InstanceId&) {
    engine->stop();
    told.set_value();
  });
  engine->run();
  StartRequest request;
  request.definition = "quick";
  engine->start(request, [&](const Result<InstanceAnswer>& state) {
    EXPECT_TRUE(state);
    engine->stop();
    answered.set_value();
  });
  told.get_future().wait();
  answered.get_future().wait();
  engine->stop();
}

TEST(WorkerPool, ACallbackThatThrowsDoesNoHarm) {
  auto engine = open();
  ASSERT_TRUE(engine->deploy("cairn: 1\nname: quick\nversion: 1.0.0\nsteps: [ { set: { a: 1 } } ]\n"));
  std::atomic<int> ended = 0;
  engine->on_ended([&](const InstanceId&) {
    ++ended;
    throw 7;
  });
  engine->run();
  for (int i = 0; i < 3; ++i) {
    std::promise<void> answered;
    StartRequest request;
    request.definition = "quick";
    engine->start(request, [&](const Result<InstanceAnswer>& state) {
      EXPECT_TRUE(state);
      answered.set_value();
      throw std::string("no exception either");
    });
    answered.get_future().wait();
  }
  engine->stop();
  EXPECT_EQ(ended, 3);
}

// A call that was sent may have been executed. Releasing it would repeat it without counting the attempt.
TEST(WorkerPool, StoppingCountsTheAttemptOfACallThatHasNoAnswer) {
  for (const int attempts : {1, 2}) {
    SystemClock clock;
    MemoryStore store(clock);
    auto core = EngineCore::open(store, {});
    ASSERT_TRUE(core);
    HeldTransport held;
    RunRequest request;
    request.type = "cairn.held.v1";
    request.attempts_max = attempts;
    const RunId id = (*core)->runs().submit(request)->first.id;
    WorkerPool pool(**core, 2, Duration::of_seconds(30));
    pool.carry(held);
    pool.start();
    auto calls = held.wait(1);
    pool.stop(std::chrono::milliseconds(1));
    const RunRow run = store.find_run(id)->value();
    EXPECT_EQ(run.status, attempts == 1 ? RunStatus::failed : RunStatus::pending);
    EXPECT_EQ(run.attempt, 1);
    EXPECT_TRUE(run.last_error.starts_with("interrupted: ")) << run.last_error;
    calls.front().second({Json("late"), std::nullopt, true, std::nullopt});
    EXPECT_EQ(store.find_run(id)->value().attempt, 1);
  }
}

TEST(WorkerPool, AnAnswerThatCameBeforeTheEndIsReported) {
  SystemClock clock;
  MemoryStore memory(clock);
  GatedStore store(memory);
  auto core = EngineCore::open(store, {});
  ASSERT_TRUE(core);
  HeldTransport held;
  RunRow run;
  run.id = {"a"};
  run.type = "cairn.held.v1";
  run.attempts_max = 1;
  ASSERT_TRUE(memory.submit_run(run));
  WorkerPool pool(**core, 2, Duration::of_seconds(30));
  pool.carry(held);
  pool.start();
  held.wait(1).front().second({Json("in time"), std::nullopt, true, std::nullopt});
  store.wait_for_commit();
  std::thread opener([&] { store.open(); });
  pool.stop(std::chrono::milliseconds(1));
  opener.join();
  EXPECT_EQ(memory.find_run({"a"})->value().status, RunStatus::succeeded);
}

// A chain of calls ends with the call in progress; the next one starts pending, for another node.
TEST(WorkerPool, AfterTheStopNewRunsBeginPending) {
  const auto held = std::make_shared<HeldTransport>();
  auto engine = open(held);
  ASSERT_TRUE(
      engine->deploy("cairn: 1\nname: chain\nversion: 1.0.0\nstate: { count: 0 }\nsteps:\n"
                     "  - repeat:\n      times: 300\n      steps:\n"
                     "        - call: { held: {}, result: answer }\n"));
  engine->run();
  StartRequest request;
  request.definition = "chain";
  const auto begun = engine->start(request);
  ASSERT_TRUE(begun) << begun.error().message;
  auto calls = held->wait(1);
  std::atomic<bool> ended = false;
  std::thread stopping([&] {
    engine->stop(std::chrono::minutes(1));
    ended = true;
  });
  // Answers every call until the engine has stopped.
  std::size_t made = 1;
  calls.front().second({Json("one"), std::nullopt, true, std::nullopt});
  while (!ended) {
    for (auto& [call, done] : held->take()) {
      ++made;
      done({Json("more"), std::nullopt, true, std::nullopt});
    }
    std::this_thread::yield();
  }
  stopping.join();
  EXPECT_LT(made, 300u);
  RunFilter filter;
  filter.instance = begun->instance;
  const auto runs = engine->store().list_runs(filter, {1000, ""});
  ASSERT_TRUE(runs);
  std::size_t pending = 0;
  for (const RunRow& run : runs->items) {
    EXPECT_NE(run.status, RunStatus::leased) << run.id.value;
    if (run.status == RunStatus::pending) {
      ++pending;
      EXPECT_EQ(run.attempt, 0) << "it was not called";
    }
  }
  EXPECT_EQ(pending, 1u);
}

// Answers every call at once.
class QuickTransport final : public Transport {
 public:
  const std::string& name() const override { return name_; }
  void send(TransportCall call, Done done) override {
    ++calls;
    done({std::move(call.request), std::nullopt, true, std::nullopt});
  }
  std::atomic<int> calls = 0;

 private:
  const std::string name_ = "quick";
};

// Between two calls of a chain the next run waits to begin. A stop at that moment releases it. A run that stays leased
// would keep its instance waiting until the lease expires.
TEST(WorkerPool, AStopInTheMiddleOfChainsLeavesNoRunLeased) {
  for (int round = 0; round < 40; ++round) {
    SystemClock clock;
    MemoryStore store(clock);
    const auto core = std::move(*EngineCore::open(store, {}));
    const std::vector<std::string> transports{"quick"};
    const Definition chain = load_definition(
        "cairn: 1\nname: chain\nversion: 1.0.0\nsteps:\n"
        "  - repeat: { times: 1000, steps: [ { call: { quick: {} } } ] }\n",
        "test.yaml", {}, transports);
    ASSERT_TRUE(chain.valid());
    ASSERT_TRUE(core->registry().deploy(chain.program));
    QuickTransport quick;
    WorkerPool pool(*core, 2, Duration::of_seconds(3600));
    pool.carry(quick);
    pool.start();
    for (int i = 0; i < 8; ++i) {
      StartRequest request;
      request.definition = "chain";
      ASSERT_TRUE(core->instances().start(request));
    }
    while (quick.calls < 20 + round) std::this_thread::yield();
    pool.stop(std::chrono::milliseconds(0));
    RunFilter filter;
    filter.status = RunStatus::leased;
    const auto leased = store.list_runs(filter, {100, ""});
    ASSERT_TRUE(leased);
    EXPECT_EQ(leased->items.size(), 0u) << "round " << round;
    core->stop();
  }
}

// Stops slow handlers in the middle of a backlog: runs that have not started are released unused.
TEST(WorkerPool, WhatHasNotBegunIsGivenBack) {
  auto engine = open();
  std::promise<void> begun;
  std::promise<void> gate;
  const std::shared_future<void> may_end = gate.get_future().share();
  std::atomic<int> count = 0;
  engine->handle("t", [&](const Work&) {
    if (++count == 1) begun.set_value();
    may_end.wait();
    return WorkDone(Json());
  });
  std::vector<RunId> ids;
  for (int i = 0; i < 50; ++i) ids.push_back(submit(*engine, "t", i, 1).id);
  engine->run();
  begun.get_future().wait();
  std::thread stopping([&] { engine->stop(std::chrono::milliseconds(1)); });
  gate.set_value();
  stopping.join();
  for (const RunId& id : ids) {
    const RunRow run = engine->store().find_run(id)->value();
    EXPECT_TRUE(run.status == RunStatus::succeeded || (run.status == RunStatus::pending && run.attempt == 0))
        << to_string(run.status) << " " << run.attempt;
  }
}

// Counts the calls that release runs. Handlers wait for the first one.
class ReleasingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<RunChanged> change_run(const RunChange& change) override {
    note({&change, 1});
    return ForwardingStore::change_run(change);
  }
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override {
    note(changes);
    return ForwardingStore::change_runs(changes);
  }
  std::atomic<int> calls = 0;
  std::atomic<int> runs = 0;
  std::latch first{1};

 private:
  void note(std::span<const RunChange> changes) {
    if (changes.front().kind != RunChange::Kind::release) return;
    runs += static_cast<int>(changes.size());
    if (++calls == 1) first.count_down();
  }
};

// One transaction for each run would take minutes.
TEST(WorkerPool, WhatHasNotBegunIsGivenBackInFewTransactions) {
  SystemClock clock;
  MemoryStore memory(clock);
  ReleasingStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  constexpr int quick = 200;
  std::atomic<int> begun = 0;
  WorkerPool pool(*core, 1, Duration::of_seconds(3600));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    if (++begun > quick) store.first.wait();
    return HandlerAnswer{};
  });
  for (int i = 0; i < 2000; ++i) {
    RunRow run;
    run.id = {"run-" + std::to_string(i)};
    run.type = "t";
    ASSERT_TRUE(memory.submit_run(run));
  }
  pool.start();
  // The handler is blocked, and 20 runs wait for it.
  RunFilter filter;
  filter.status = RunStatus::leased;
  while (begun <= quick || memory.list_runs(filter, {30, ""})->items.size() < 30) std::this_thread::yield();
  pool.stop(std::chrono::seconds(60));
  EXPECT_GE(store.runs, 20);
  EXPECT_LE(store.calls, 3) << "for " << store.runs << " runs";
}

// Counts heartbeats.
class BeatingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override {
    for (const RunChange& change : changes) beats += change.kind == RunChange::Kind::heartbeat ? 1 : 0;
    return ForwardingStore::change_runs(changes);
  }
  std::atomic<int> beats = 0;
};

// Another transaction has locked the run `locked`. A call for this run alone would never return.
class LockedRunStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<RunChanged> change_run(const RunChange& change) override {
    if (change.run.value == "locked") released.wait();
    return ForwardingStore::change_run(change);
  }
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override {
    std::vector<Result<RunChanged>> answers;
    for (const RunChange& change : changes) {
      const bool locked = change.run.value == "locked";
      answers.push_back(locked ? Error{ErrorCode::unavailable, "locked"} : ForwardingStore::change_run(change));
      const std::lock_guard lock(mutex);
      ++beats[change.run.value];
      if (changes.size() > 1) together = std::max(together, changes.size());
      beaten.notify_all();
    }
    return answers;
  }
  std::latch released{1};
  std::mutex mutex;
  std::condition_variable beaten;
  std::map<std::string, int> beats;
  std::size_t together = 0;
};

TEST(WorkerPool, ALockedRunCostsNoOtherRunItsLease) {
  SystemClock clock;
  MemoryStore memory(clock);
  LockedRunStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  constexpr std::size_t runs = 3;
  std::latch begun(runs);
  std::latch gate(1);
  WorkerPool pool(*core, runs, Duration::of_ms(900));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    begun.count_down();
    gate.wait();
    return HandlerAnswer{};
  });
  for (const char* const id : {"a", "b", "locked"}) {
    RunRow run;
    run.id = {id};
    run.type = "t";
    ASSERT_TRUE(memory.submit_run(run));
  }
  pool.start();
  begun.wait();
  {
    std::unique_lock lock(store.mutex);
    store.beaten.wait(lock, [&] { return store.beats["a"] >= 3 && store.beats["b"] >= 3; });
    EXPECT_EQ(store.together, runs) << "one call for all heartbeats that are due";
    EXPECT_GT(store.beats["locked"], store.beats["a"]) << "a failed heartbeat is repeated before the next one is due";
  }
  gate.count_down();
  pool.stop();
  store.released.count_down();
  for (const char* const id : {"a", "b"}) {
    const RunRow run = memory.find_run({id})->value();
    EXPECT_EQ(run.status, RunStatus::succeeded);
    EXPECT_EQ(run.leases, 1);
  }
}

TEST(WorkerPool, AStopMayWaitForACallAsLongAsItsTypeAllows) {
  const auto transport = std::make_shared<HeldTransport>();
  const auto engine = open(transport);
  const RunRow run = submit(*engine, run_type_of("held"));
  engine->run();
  const auto calls = transport->wait(1);
  auto stopped = std::async(std::launch::async, [&] { engine->stop(std::chrono::milliseconds::max()); });
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout) << "it awaits the answer";
  calls.at(0).second({});
  stopped.wait();
  EXPECT_EQ(engine->store().find_run(run.id)->value().status, RunStatus::succeeded);
}

// Its answer to a lease request takes most of the lease.
class LateLeases final : public ForwardingStore {
 public:
  LateLeases(Store& behind, ManualClock& clock) : ForwardingStore(behind), clock_(clock) {}
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override {
    auto leased = ForwardingStore::lease_runs(request);
    if (leased && !leased->empty()) clock_.advance(Duration::of_ms(29'990));
    return leased;
  }
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override {
    for (const RunChange& change : changes) {
      if (change.kind == RunChange::Kind::heartbeat && !std::exchange(beaten_, true)) length.set_value(change.length);
    }
    return ForwardingStore::change_runs(changes);
  }
  std::promise<Duration> length;  // of the first heartbeat

 private:
  ManualClock& clock_;
  bool beaten_ = false;
};

TEST(WorkerPool, ALeaseThatArrivesLateIsRenewedAtOnceForItsWholeLength) {
  ManualClock clock(SystemClock().now());
  MemoryStore memory(clock);
  LateLeases store(memory, clock);
  const auto core = std::move(*EngineCore::open(store, {}));
  std::promise<void> gate;
  WorkerPool pool(*core, 1, Duration::of_seconds(30));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    gate.get_future().wait();
    return HandlerAnswer{};
  });
  RunRow run;
  run.id = {"a"};
  run.type = "t";
  ASSERT_TRUE(memory.submit_run(run));
  pool.start();
  auto renewed = store.length.get_future();
  EXPECT_EQ(renewed.wait_for(std::chrono::seconds(5)), std::future_status::ready) << "its lease is nearly over";
  gate.set_value();
  pool.stop();
  ASSERT_EQ(renewed.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_EQ(renewed.get().ms_up(), 30'000);
  EXPECT_EQ(memory.find_run({"a"})->value().status, RunStatus::succeeded);
}

TEST(WorkerPool, AHandlerKeepsItsLeaseWhileThePoolStops) {
  SystemClock clock;
  MemoryStore memory(clock);
  BeatingStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  std::promise<void> begun;
  std::promise<void> gate;
  WorkerPool pool(*core, 1, Duration::of_ms(300));
  pool.handle("t", [&](const RunRow&, const std::stop_token&) {
    begun.set_value();
    gate.get_future().wait();
    return HandlerAnswer{};
  });
  RunRow run;
  run.id = {"a"};
  run.type = "t";
  ASSERT_TRUE(memory.submit_run(run));
  pool.start();
  begun.get_future().wait();
  std::atomic<bool> stopped = false;
  std::thread stopping([&] {
    pool.stop(std::chrono::milliseconds(0));
    stopped = true;
  });
  // The grace is long over when the second heartbeat arrives.
  const int before = store.beats;
  while (store.beats < before + 3) std::this_thread::yield();
  EXPECT_FALSE(stopped);
  gate.set_value();
  stopping.join();
  EXPECT_EQ(memory.find_run({"a"})->value().status, RunStatus::succeeded);
}

TEST(WorkerPool, AnotherTransportOfTheSameNameIsRefused) {
  EngineOptions options;
  options.transports = {std::make_shared<HeldTransport>(), std::make_shared<HeldTransport>()};
  EXPECT_FALSE(Engine::open(options));
}

}  // namespace
}  // namespace cairn::node
