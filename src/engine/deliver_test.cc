// Requests without a thread that waits.
#include <gtest/gtest.h>

#include <future>
#include <latch>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "engine/request_key.h"
#include "store/memory/memory_store.h"
#include "store/open.h"
#include "stores/forwarding_store.h"

namespace cairn {
namespace {

constexpr const char* counting = R"(
cairn: 1
name: counting
version: 1.0.0
state: { count: 0 }
steps:
  - repeat:
      while: = state.count < 200
      max: 1000
      steps:
        - signal: { name: tick }
        - set: { count: = state.count + 1 }
output: = state.count
)";

constexpr const char* stepping = R"(
cairn: 1
name: stepping
version: 1.0.0
checkpoint: step
state: { count: 0 }
steps:
  - repeat:
      times: 20
      steps:
        - set: { count: = state.count + 1 }
output: = state.count
)";

constexpr const char* calling = R"(
cairn: 1
name: calling
version: 1.0.0
steps:
  - call: { worker: { type: demo.work.v1, payload: {} }, result: answer }
output: = state.answer
)";

constexpr const char* asking = R"(
cairn: 1
name: asking
version: 1.0.0
steps:
  - task: { name: approve, result: answer }
output: = state.answer
)";

constexpr const char* listening = R"(
cairn: 1
name: listening
version: 1.0.0
steps:
  - signal: { name: go, result: got }
output: = state.got
)";

constexpr const char* echoing = R"(
cairn: 1
name: echoing
version: 1.0.0
steps:
  - set: { said: = input }
output: = state.said
)";

class DeliverTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto store = open_store(std::string(GetParam()) == "memory" ? "memory:" : "sqlite:" + path_, clock_);
    ASSERT_TRUE(store) << store.error().message;
    store_ = std::move(*store);
    auto core = EngineCore::open(*store_, {});
    ASSERT_TRUE(core) << core.error().message;
    core_ = std::move(*core);
    for (const char* const text : {counting, stepping, calling, asking, listening, echoing}) {
      const auto deployed = core_->registry().deploy(load_definition(text, "test.yaml").program);
      ASSERT_TRUE(deployed) << deployed.error().message;
    }
  }
  void TearDown() override {
    core_.reset();
    store_.reset();
    for (const char* const end : {"", "-wal", "-shm", ".lock"}) std::remove((path_ + end).c_str());
  }

  Result<InstanceAnswer> start(const std::string& definition, const std::string& key = {}) {
    std::promise<Result<InstanceAnswer>> answered;
    StartRequest request;
    request.definition = definition;
    request.idempotency_key = key;
    core_->instances().start(request, [&](Result<InstanceAnswer> answer) { answered.set_value(std::move(answer)); });
    return answered.get_future().get();
  }
  // Removes an ended instance, and waits for the next millisecond: instances with one id differ in their start.
  void retire(const InstanceId& id) {
    const Snapshot ended = find(id);
    while (store_->now().unix_ms() <= ended.changed_at.unix_ms() + 1) std::this_thread::yield();
    ASSERT_EQ(store_->retire_instances({{ended.status}, store_->now(), 100})->instances, 1u);
  }
  void tick(const InstanceId& id, Done<Result<InstanceAnswer>> done) {
    SignalRequest request;
    request.name = "tick";
    core_->instances().signal(id, std::move(request), std::move(done));
  }
  Snapshot find(const InstanceId& id) { return **store_->find_snapshot(id); }

  SystemClock clock_;
  const std::string path_ = testing::TempDir() + "cairn_deliver_" + std::to_string(::getpid()) + ".db";
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
};

TEST_P(DeliverTest, ManySignalsToOneInstanceAreAllTaken) {
  const auto begun = start("counting");
  ASSERT_TRUE(begun) << begun.error().message;
  std::latch answered(200);
  std::atomic<int> refused = 0;
  for (int i = 0; i < 200; ++i) {
    tick(begun->instance, [&](const Result<InstanceAnswer>& state) {
      if (!state) ++refused;
      answered.count_down();
    });
  }
  answered.wait();
  EXPECT_EQ(refused, 0);
  const Snapshot ended = find(begun->instance);
  EXPECT_EQ(ended.status, Status::completed);
  EXPECT_EQ(ended.output, Json(200));
}

// Those that come after the end are refused one after the other, and not each from inside the other.
TEST_P(DeliverTest, ABurstOfSignalsToAnInstanceThatEndsIsAnswered) {
  constexpr int count = 6'000;
  const auto begun = start("counting");
  ASSERT_TRUE(begun) << begun.error().message;
  std::latch answered(count);
  std::atomic<int> taken = 0;
  for (int i = 0; i < count; ++i) {
    tick(begun->instance, [&](const Result<InstanceAnswer>& state) {
      if (state) ++taken;
      answered.count_down();
    });
  }
  answered.wait();
  EXPECT_EQ(taken, 200);
}

// What a callback asks for needs the store, which its thread must not call.
TEST_P(DeliverTest, ACallbackMayAskAgain) {
  std::promise<Result<InstanceAnswer>> answered;
  StartRequest request;
  request.definition = "counting";
  request.idempotency_key = "again";
  core_->instances().start(request, [&](const Result<InstanceAnswer>& first) {
    core_->instances().start(request, [&, id = first->instance](const Result<InstanceAnswer>& second) {
      EXPECT_TRUE(second->repeated);
      tick(id, [&](Result<InstanceAnswer> state) { answered.set_value(std::move(state)); });
    });
  });
  const auto state = answered.get_future().get();
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->status, Status::waiting);
}

TEST_P(DeliverTest, ACallbackMayCompleteATask) {
  const auto begun = start("asking");
  ASSERT_TRUE(begun) << begun.error().message;
  const auto tasks = store_->list_tasks({}, {});
  ASSERT_TRUE(tasks && tasks->items.size() == 1);
  TaskCompletion completion;
  completion.task = tasks->items.front().id;
  completion.payload = Json::object({{"ok", true}});
  completion.idempotency_key = "once";
  completion.actor.name = "ada";
  std::promise<void> all;
  tick(begun->instance, [&](const Result<InstanceAnswer>& ticked) {
    EXPECT_TRUE(ticked);
    core_->tasks().complete(completion, [&](const Result<InstanceAnswer>& first) {
      ASSERT_TRUE(first) << first.error().message;
      EXPECT_EQ(first->status, Status::completed);
      EXPECT_FALSE(first->repeated);
      core_->tasks().complete(completion, [&, output = first->output](const Result<InstanceAnswer>& second) {
        ASSERT_TRUE(second) << second.error().message;
        EXPECT_TRUE(second->repeated);
        EXPECT_EQ(second->output, output);
        completion.idempotency_key.clear();
        core_->tasks().complete(completion, [&](const Result<InstanceAnswer>& third) {
          EXPECT_EQ(third.error().code, ErrorCode::conflict) << "it is closed";
          all.set_value();
        });
      });
    });
  });
  EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
}

// Every thread that could do it instead is busy.
TEST_P(DeliverTest, WhatACallbackAsksIsDecidedThereWhenNothingIsMissing) {
  const auto open = std::make_shared<std::latch>(1);  // the last task that waits for it may outlive this function
  std::promise<Result<InstanceAnswer>> answered;
  StartRequest request;
  request.definition = "counting";
  core_->instances().start(request, [&](const Result<InstanceAnswer>&) {
    for (std::size_t i = 0; i < Deliveries::deferred_threads_max; ++i)
      core_->deliveries().defer([open] { open->wait(); });
    core_->instances().start(request, [&](const Result<InstanceAnswer>& begun) {
      tick(begun->instance, [&](Result<InstanceAnswer> state) { answered.set_value(std::move(state)); });
    });
  });
  auto answer = answered.get_future();
  const bool in_time = answer.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
  open->count_down();
  EXPECT_TRUE(in_time);
  const auto state = answer.get();
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state->state_version, 2u);
}

TEST(Deliver, WhatACallbackNeedsFromTheStoreIsAskedElsewhere) {
  SystemClock clock;
  MemoryStore store(clock);
  CoreOptions options;
  options.snapshots_cached = 0;
  const auto core = std::move(*EngineCore::open(store, options));
  for (const char* const text : {counting, calling}) {
    ASSERT_TRUE(core->registry().deploy(load_definition(text, "test.yaml").program));
  }
  std::promise<void> all;
  const auto start = [&](const std::string& definition, Done<Result<InstanceAnswer>> done) {
    StartRequest request;
    request.definition = definition;
    core->instances().start(std::move(request), std::move(done));
  };
  const auto signal = [&](const InstanceId& id, const std::string& name, Done<Result<InstanceAnswer>> done) {
    SignalRequest request;
    request.name = name;
    core->instances().signal(id, std::move(request), std::move(done));
  };
  start("counting", [&](const Result<InstanceAnswer>& first) {
    core->registry().expect_changes();
    // How its run is counted was never read.
    start("calling", [&, id = first->instance](const Result<InstanceAnswer>& second) {
      EXPECT_TRUE(second);
      signal(id, "tick", [&, id](const Result<InstanceAnswer>& third) {
        EXPECT_TRUE(third);
        start("nobody", [&, id](const Result<InstanceAnswer>& fourth) {
          EXPECT_EQ(fourth.error().code, ErrorCode::not_found);
          start("counting", [&, id](const Result<InstanceAnswer>&) {
            signal(id, "", [&](const Result<InstanceAnswer>& fifth) {
              EXPECT_EQ(fifth.error().code, ErrorCode::invalid);
              all.set_value();
            });
          });
        });
      });
    });
  });
  EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  core->stop();
}

TEST_P(DeliverTest, AReportThatComesTooLateIsAnswered) {
  const auto begun = start("calling");
  ASSERT_TRUE(begun) << begun.error().message;
  EngineCore& core = *core_;
  std::promise<std::vector<RunRow>> leased;
  core.leasing().waiters().ask({"elsewhere", {"demo."}, {}, 5, Duration::of_seconds(30)}, std::chrono::seconds(60),
                               [&](Result<std::vector<RunRow>> runs) { leased.set_value(std::move(*runs)); });
  const std::vector<RunRow> runs = leased.get_future().get();
  ASSERT_EQ(runs.size(), 1u);
  // Two at once, as if each had just been leased: one of them finds its run ended.
  std::vector<RunReport> reports(2);
  for (RunReport& report : reports) {
    report.run = runs[0].id;
    report.fence = runs[0].fence;
    report.leased = runs[0];
  }
  std::promise<std::vector<Result<RunAnswer>>> reported;
  core.reports().report_all(reports, [&](auto answers) { reported.set_value(std::move(answers)); });
  for (const auto& answer : reported.get_future().get()) {
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(*answer, RunAnswer::finished);
  }
}

TEST_P(DeliverTest, AnAnswerWaitsForTheLastCheckpoint) {
  const auto ended = start("stepping");
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->status, Status::completed);
  EXPECT_EQ(ended->output, Json(20));
  EXPECT_GE(ended->state_version, 20u);
}

TEST_P(DeliverTest, OneKeyStartsOneInstanceHoweverManyAskAtOnce) {
  std::latch answered(50);
  std::mutex mutex;
  std::set<std::string> ids;
  StartRequest request;
  request.definition = "counting";
  request.idempotency_key = "k";
  for (int i = 0; i < 50; ++i) {
    core_->instances().start(request, [&](const Result<InstanceAnswer>& state) {
      {
        const std::lock_guard lock(mutex);
        ids.insert(state ? state->instance.value : state.error().message);
      }
      answered.count_down();  // with the last one the mutex goes away
    });
  }
  answered.wait();
  EXPECT_EQ(ids.size(), 1u);
}

TEST_P(DeliverTest, ARepeatedSignalIsARepeatAlsoAfterTheEnd) {
  const auto begun = start("listening");
  ASSERT_TRUE(begun) << begun.error().message;
  SignalRequest signal;
  signal.name = "go";
  signal.id = "s1";
  signal.payload = Json(7);
  const auto first = core_->instances().signal(begun->instance, signal);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->status, Status::completed);
  EXPECT_FALSE(first->repeated);
  const auto again = core_->instances().signal(begun->instance, signal);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->status, Status::completed);
  EXPECT_EQ(again->output, Json(7));
  signal.id = "s2";
  const auto other = core_->instances().signal(begun->instance, signal);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
}

TEST_P(DeliverTest, ARepeatedRequestIsARepeatWhateverTheStatusIsNow) {
  const auto begun = start("counting");
  ASSERT_TRUE(begun) << begun.error().message;
  const auto ask = [&](const EventBody& what, const char* key, std::optional<std::uint64_t> state_version = {}) {
    const RequestKey::Scope scope(key);
    return core_->instances().request(begun->instance, what, {}, state_version);
  };
  const auto expect_repeat = [&](const EventBody& what, const char* key, Status now,
                                 std::optional<std::uint64_t> state_version = {}) {
    const auto again = ask(what, key, state_version);
    ASSERT_TRUE(again) << key << ": " << again.error().message;
    EXPECT_TRUE(again->repeated) << key;
    EXPECT_EQ(again->status, now) << key;
    EXPECT_EQ(again->state_version, find(begun->instance).state_version) << key;
  };
  ASSERT_TRUE(ask(SuspendRequested{"why"}, "suspend", begun->state_version));
  expect_repeat(SuspendRequested{"why"}, "suspend", Status::suspended, begun->state_version);
  ASSERT_TRUE(ask(ResumeRequested{}, "resume"));
  expect_repeat(ResumeRequested{}, "resume", Status::waiting);
  expect_repeat(SuspendRequested{"why"}, "suspend", Status::waiting, begun->state_version);
  const auto other = ask(ResumeRequested{}, "other");
  ASSERT_FALSE(other) << "it is not suspended";
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  const auto moved = ask(SuspendRequested{"why"}, "other", begun->state_version);
  ASSERT_FALSE(moved);
  EXPECT_TRUE(moved.error().message.starts_with("stale_version:")) << moved.error().message;
  ASSERT_TRUE(ask(CancelRequested{"why"}, "cancel"));
  expect_repeat(CancelRequested{"why"}, "cancel", Status::cancelled);
  expect_repeat(ResumeRequested{}, "resume", Status::cancelled);
  expect_repeat(SuspendRequested{"why"}, "suspend", Status::cancelled);
  EXPECT_FALSE(ask(CancelRequested{"why"}, "other"));
}

TEST_P(DeliverTest, ARepeatedStartTellsNothingOfTheSuccessor) {
  StartRequest first;
  first.definition = "echoing";
  first.id = "x";
  first.input = Json("first");
  first.idempotency_key = "k1";
  ASSERT_TRUE(core_->instances().start(first));
  EXPECT_EQ(core_->instances().start(first)->output, Json("first"));
  retire({"x"});
  StartRequest second = first;
  second.input = Json("second");
  second.idempotency_key = "k2";
  ASSERT_TRUE(core_->instances().start(second));
  const auto again = core_->instances().start(first);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_TRUE(again->gone);
  EXPECT_EQ(again->status, Status::completed);
  EXPECT_EQ(again->output, Json());
  EXPECT_EQ(core_->instances().start(second)->output, Json("second"));
}

TEST_P(DeliverTest, ACompletionOfTheSuccessorsTaskIsNoRepeat) {
  StartRequest request;
  request.definition = "asking";
  request.id = "x";
  TaskCompletion completion;
  completion.payload = Json::object({{"ok", true}});
  completion.idempotency_key = "once";
  completion.actor.name = "ada";
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(core_->instances().start(request));
    const auto tasks = store_->list_tasks({}, {});
    ASSERT_TRUE(tasks && tasks->items.size() == 1);
    ASSERT_TRUE(round == 0 || completion.task == tasks->items.front().id) << "ids of tasks derive from the instance's";
    completion.task = tasks->items.front().id;
    for (const bool repeated : {false, true}) {
      const auto completed = core_->tasks().complete(completion);
      ASSERT_TRUE(completed) << completed.error().message;
      EXPECT_EQ(completed->repeated, repeated) << round;
      EXPECT_EQ(completed->status, Status::completed);
      EXPECT_EQ(completed->output, completion.payload);
      EXPECT_EQ(find({"x"}).status, Status::completed) << round;
    }
    retire({"x"});
  }
}

TEST_P(DeliverTest, ErrorsAreAnswersToo) {
  EXPECT_EQ(start("nobody").error().code, ErrorCode::not_found);
  std::promise<Result<InstanceAnswer>> answered;
  tick({"nobody"}, [&](Result<InstanceAnswer> state) { answered.set_value(std::move(state)); });
  EXPECT_EQ(answered.get_future().get().error().code, ErrorCode::not_found);
}

TEST_P(DeliverTest, AWorkerWhoWaitsGetsANewRunInTheCommitThatMakesIt) {
  EngineCore& core = *core_;
  std::promise<std::vector<RunRow>> leased;
  core.leasing().waiters().ask({"elsewhere", {"demo."}, {}, 5, Duration::of_seconds(30)}, std::chrono::seconds(60),
                               [&](Result<std::vector<RunRow>> runs) { leased.set_value(std::move(*runs)); });
  const auto begun = start("calling");
  ASSERT_TRUE(begun) << begun.error().message;
  const std::vector<RunRow> runs = leased.get_future().get();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].leased_by, "elsewhere");
  EXPECT_EQ(runs[0].attempt, 1);
  std::promise<std::vector<Result<RunAnswer>>> reported;
  RunReport report;
  report.run = runs[0].id;
  report.fence = runs[0].fence;
  report.result = Json("done");
  core.reports().report_all({&report, 1}, [&](auto answers) { reported.set_value(std::move(answers)); });
  const auto answers = reported.get_future().get();
  ASSERT_TRUE(answers.at(0));
  EXPECT_EQ(*answers[0], RunAnswer::finished);
  EXPECT_EQ(find(begun->instance).output, Json("done"));
}

// Commits before the sync, and checks that no answer is given before the sync.
class UnsyncedStore final : public ForwardingStore {
 public:
  explicit UnsyncedStore(Store& behind) : ForwardingStore(behind) { traits_.commits_unsynced = true; }
  Result<std::vector<CommitOutcome>> commit_unsynced(std::span<const Unit> units, const MoreUnits& more) override {
    auto outcomes = ForwardingStore::commit(units);
    for (auto next = more(); outcomes && !next.empty(); next = more()) {
      auto further = ForwardingStore::commit(next);
      if (!further) return further;
      std::move(further->begin(), further->end(), std::back_inserter(*outcomes));
    }
    committed += units.size();
    return outcomes;
  }
  void sync() override {
    // An answer during the sync would be too early.
    if (told > synced) ++too_soon;
    synced = committed.load();
  }
  std::atomic<std::size_t> committed = 0, synced = 0, told = 0, too_soon = 0;
};

TEST(Ends, AreToldOnceTheyAreDurable) {
  SystemClock clock;
  MemoryStore memory(clock);
  UnsyncedStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  core->listeners().on_ended([&](const InstanceId&) { ++store.told; });
  const Definition definition =
      load_definition("cairn: 1\nname: quick\nversion: 1.0.0\nsteps: [ { set: { a: 1 } } ]\n", "test.yaml");
  ASSERT_TRUE(definition.valid());
  ASSERT_TRUE(core->registry().deploy(definition.program));
  constexpr int count = 20;
  for (int i = 0; i < count; ++i) {
    StartRequest request;
    request.definition = "quick";
    ASSERT_TRUE(core->instances().start(request));
  }
  core->stop();
  EXPECT_EQ(store.told, static_cast<std::size_t>(count));
  EXPECT_EQ(store.too_soon, 0u);
}

Snapshot snapshot(std::uint64_t state_version, std::int64_t started_ms) {
  Snapshot made;
  made.instance = {"a"};
  made.state_version = state_version;
  made.started_at = Timestamp::of_unix_ms(started_ms);
  return made;
}

// A refused start leaves no instance that could continue after its first commit.
TEST(Deliver, ARefusedStartLeavesNothingToContinue) {
  ManualClock clock{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store(clock);
  CoreOptions options;
  options.limits.commits_waiting_max = 0;
  const auto core = std::move(*EngineCore::open(store, options));
  ASSERT_TRUE(core->registry().deploy(load_definition(stepping, "test.yaml").program));
  StartRequest request;
  request.definition = "stepping";
  ASSERT_FALSE(core->instances().start(request));
  clock.advance(options.hold);
  EXPECT_EQ(core->due().fire_timers(), 0u);
  EXPECT_EQ(*core->due().next_due(), std::nullopt) << "it must not be tried for ever";
}

// An interrupted slice has no row that tells when it is due.
TEST(Deliver, InterruptedSlicesContinueLaterIfTheStoreIsAway) {
  class OnceAwayStore final : public ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    Result<Page<InstanceRow>> list_instances(const InstanceFilter& filter, const PageRequest& page) override {
      if (std::exchange(away, false)) return Error{ErrorCode::unavailable, "away"};
      return ForwardingStore::list_instances(filter, page);
    }
    bool away = false;
  };
  ManualClock clock{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory(clock);
  OnceAwayStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  const Definition definition = load_definition(stepping, "test.yaml");
  ASSERT_TRUE(core->registry().deploy(definition.program));
  // The node that should continue it is gone.
  Slice slice(core->registry(), Setting{}, store.now(), "tester", "node");
  Started started;
  started.instance = {"x"};
  ASSERT_TRUE(slice.start(*definition.program, started));
  ASSERT_EQ(store.commit(std::span(&slice.unit, 1))->front().kind, CommitOutcome::Kind::done);
  store.away = true;
  EXPECT_EQ(core->due().resume_interrupted_slices(), 0u);
  ASSERT_TRUE(core->due().next_due()->has_value());
  clock.advance(between(store.now(), **core->due().next_due()));
  core->due().fire_timers();
  EXPECT_EQ(memory.find_instance({"x"})->value().status, Status::completed);
}

TEST(SnapshotCache, ANewInstanceWithTheIdOfAnOldOneReplacesIt) {
  SnapshotCache cache(10);
  const auto put = [&](std::uint64_t state_version, std::int64_t started_ms) {
    cache.put(std::make_shared<const Snapshot>(snapshot(state_version, started_ms)));
    return cache.find({"a"});
  };
  EXPECT_EQ(put(5, 1000)->state_version, 5u);
  EXPECT_EQ(put(4, 1000)->state_version, 5u) << "answers may come in any order";
  EXPECT_EQ(put(1, 2000)->state_version, 1u) << "another instance";
  EXPECT_EQ(put(6, 1000)->state_version, 1u) << "a late answer about the one before";
  EXPECT_EQ(put(3, 2000)->state_version, 3u);
  EXPECT_EQ(put(1, 2000)->state_version, 3u);
  EXPECT_EQ(put(1, 1500)->state_version, 1u) << "a clock that was set back";
  cache.clear();
  EXPECT_EQ(cache.find({"a"}), nullptr);
}

// One node of several. It gets no notification from the others.
class DeafStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  void watch(WakeupListener) override {}
};

TEST(Deliver, AnotherNodeDoesNotDecideOnThePredecessorOfAReusedId) {
  ManualClock clock{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory(clock);
  DeafStore store_a(memory), store_b(memory);
  const auto a = std::move(*EngineCore::open(store_a, {}));
  ASSERT_TRUE(a->registry().deploy(load_definition(counting, "test.yaml").program));
  const auto b = std::move(*EngineCore::open(store_b, {}));
  const InstanceId id{"x"};
  StartRequest request;
  request.definition = "counting";
  request.id = id.value;
  SignalRequest tick;
  tick.name = "tick";
  ASSERT_TRUE(a->instances().start(request));
  ASSERT_TRUE(b->instances().signal(id, tick));
  ASSERT_TRUE(b->instances().signal(id, tick));
  ASSERT_TRUE(a->instances().request(id, CancelRequested{"no"}, {}));
  clock.advance(Duration::of_seconds(60));
  ASSERT_EQ(memory.retire_instances({{Status::cancelled}, clock.now(), 100})->instances, 1u);
  const Timestamp second = clock.now();
  ASSERT_TRUE(a->instances().start(request));
  SignalRequest other;
  other.name = "other";
  ASSERT_TRUE(a->instances().signal(id, other));
  ASSERT_TRUE(a->instances().signal(id, other));
  const auto answer = b->instances().signal(id, tick);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->state_version, 4u);
  const auto now = memory.find_snapshot(id);
  ASSERT_TRUE(now && *now);
  EXPECT_EQ((**now).started_at, second);
  EXPECT_EQ((**now).state["count"], Json(1));
  EXPECT_EQ((**now).signals.size(), 2u);
}

TEST(Deliver, ARepeatTellsHowTheInstanceIsNow) {
  ManualClock clock{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory(clock);
  DeafStore store_a(memory), store_b(memory);
  const auto a = std::move(*EngineCore::open(store_a, {}));
  ASSERT_TRUE(a->registry().deploy(load_definition(counting, "test.yaml").program));
  const auto b = std::move(*EngineCore::open(store_b, {}));
  StartRequest request;
  request.definition = "counting";
  const auto begun = a->instances().start(request);
  ASSERT_TRUE(begun) << begun.error().message;
  SignalRequest tick;
  tick.name = "tick";
  SignalRequest once = tick;
  once.id = "once";
  ASSERT_TRUE(b->instances().signal(begun->instance, once));
  const auto now = a->instances().signal(begun->instance, tick);
  ASSERT_TRUE(now) << now.error().message;
  const auto again = b->instances().signal(begun->instance, once);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->state_version, now->state_version);
}

// One node of several. Reading what the others have deployed fails.
class PartlyDeafStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  void watch(WakeupListener) override {}
  Result<Page<DefinitionRow>> list_definitions(const PageRequest& page) override {
    if (lists) return ForwardingStore::list_definitions(page);
    return Error{ErrorCode::unavailable, "the connection was lost"};
  }
  Result<std::optional<DefinitionRow>> find_definition(const std::string& name,
                                                       const std::optional<std::string>& version) override {
    if (finds) return ForwardingStore::find_definition(name, version);
    return Error{ErrorCode::unavailable, "the connection was lost"};
  }
  std::atomic<bool> lists = true, finds = true;
};

class LateDefinition : public testing::Test {
 protected:
  // Node a deploys the parent. Node b learns of it and not of the child, which a deploys later.
  void SetUp() override {
    a_ = std::move(*EngineCore::open(store_a_, {}));
    ASSERT_TRUE(a_->registry().deploy(load_definition(parent, "parent.yaml").program));
    b_ = std::move(*EngineCore::open(store_b_, {}));
    StartRequest request;
    request.definition = "parent";
    request.id = id_.value;
    ASSERT_TRUE(b_->instances().start(request));
    ASSERT_TRUE(a_->registry().deploy(load_definition(child, "child.yaml").program));
  }
  Result<InstanceAnswer> go() {
    SignalRequest go;
    go.name = "go";
    return b_->instances().signal(id_, go);
  }

  static constexpr const char* parent =
      "cairn: 1\nname: parent\nversion: 1.0.0\nsteps:\n  - signal: { name: go }\n"
      "  - subworkflow: { name: child, result: got }\noutput: = state.got\n";
  static constexpr const char* child = "cairn: 1\nname: child\nversion: 1.0.0\nsteps: [ { wait: 0s } ]\noutput: 7\n";
  const InstanceId id_{"x"};
  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory_{clock_};
  PartlyDeafStore store_a_{memory_}, store_b_{memory_};
  std::unique_ptr<EngineCore> a_, b_;
};

TEST_F(LateDefinition, IsReadAloneIfTheListCannotBeRead) {
  store_b_.lists = false;
  const auto answer = go();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, Status::completed) << "the instance must not take the child for unknown";
}

TEST_F(LateDefinition, IsNotUnknownWhileTheStoreCannotTell) {
  store_b_.finds = false;
  const auto refused = go();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  store_b_.finds = true;
  const auto answer = go();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, Status::completed);
}

INSTANTIATE_TEST_SUITE_P(Stores, DeliverTest, testing::Values("memory", "sqlite"),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace cairn
