// The whole path, from definition to result, through the embedding interface: on both stores, with a
// clock that the test moves.
#include "cairn/engine.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/clock.h"
#include "coordinator/coordinator.h"

namespace cairn {
namespace {

constexpr const char* review = R"(
cairn: 1
name: review
version: 1.0.0
input: { type: object, required: [amount], properties: { amount: { type: number } } }
reference: { key: = input.no }
state: { amount: = input.amount }
steps:
  - task:
      name: Review
      roles: [clerk]
      exclude: [mallory]
      form: { type: object, required: [ok] }
      result: review
output: { ok: = state.review.ok, amount: = state.amount }
)";

constexpr const char* sleeper = R"(
cairn: 1
name: sleeper
version: 1.0.0
steps:
  - wait: 1h
  - set: { woken: true }
  - wait: 30m
output: { woken: = state.woken }
)";

constexpr const char* listener = R"(
cairn: 1
name: listener
version: 1.0.0
steps:
  - signal: { name: paid, key: = input.no, result: payment }
output: = state.payment
)";

constexpr const char* counter = R"(
cairn: 1
name: counter
version: 1.0.0
state: { sum: 0 }
steps:
  - repeat:
      times: 40
      steps:
        - signal: { name: add, result: last }
        - set: { sum: = state.sum + state.last }
output: = state.sum
)";

constexpr const char* doubler = R"(
cairn: 1
name: doubler
version: 1.0.0
steps:
  - set: { twice: = input.n * 2 }
output: = state.twice
)";

constexpr const char* parent = R"(
cairn: 1
name: parent
version: 1.0.0
steps:
  - subworkflow: { name: doubler, input: { n: = input.n }, result: a }
  - subworkflow: { name: review, input: { amount: = state.a, no: P }, result: b }
output: { a: = state.a, b: = state.b }
)";

constexpr const char* caller = R"(
cairn: 1
name: caller
version: 1.0.0
steps:
  - id: charge
    call:
      worker: { type: billing.charge.v1, payload: { amount: = input.amount } }
      retry: { attempts: 3, backoff: 1s }
      result: receipt
output: = state.receipt
)";

constexpr const char* divider = R"(
cairn: 1
name: divider
version: 1.0.0
state: { by: = input.by }
steps:
  - id: divide
    set: { result: = 10 / state.by }
output: = state.result
)";

constexpr const char* stepper = R"(
cairn: 1
name: stepper
version: 1.0.0
checkpoint: step
steps:
  - set: { a: 1 }
  - set: { b: = state.a + 1 }
  - set: { c: = state.b + 1 }
output: = state.c
)";

class EngineOnAStore : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) +
              "cairn_engine_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    open();
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }

  bool on_disk() const { return std::string(GetParam()) == "sqlite"; }

  void open() {
    engine_.reset();
    EngineOptions options;
    options.store = on_disk() ? "sqlite:" + folder_ + "/store.db" : "memory:";
    options.clock = &clock_;
    auto opened = Engine::open(options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    engine_ = std::move(*opened);
    if (handler_) engine_->handle("billing.charge.v1", handler_);
  }
  // Everything in memory is lost; only what is in the file remains.
  void restart() {
    if (on_disk()) open();
  }
  void deploy(const char* text) {
    auto done = engine_->deploy(text);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  InstanceState start(const std::string& definition, Json input = Json::object()) {
    StartOrder order;
    order.definition = definition;
    order.input = std::move(input);
    auto started = engine_->start(order);
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    return started ? *started : InstanceState{};
  }
  InstanceState now(const InstanceId& id) {
    auto found = engine_->find(id);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    return found ? *found : InstanceState{};
  }
  TaskId only_task() {
    auto tasks = engine_->tasks();
    EXPECT_TRUE(tasks.has_value() && tasks->size() == 1)
        << (tasks ? std::to_string(tasks->size()) : tasks.error().message);
    return tasks && tasks->size() == 1 ? tasks->front().id : TaskId{};
  }
  void pass(Duration by) {
    clock_.advance(by);
    engine_->settle();
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  std::string folder_;
  std::unique_ptr<Engine> engine_;
  WorkHandler handler_;
};
INSTANTIATE_TEST_SUITE_P(Stores, EngineOnAStore, testing::Values("memory", "sqlite"),
                         [](const auto& instance) { return std::string(instance.param); });

const Person ann{"ann", std::vector<std::string>{"clerk"}};
const Json approval = Json::object({{"ok", true}});

TEST_P(EngineOnAStore, ATaskIsAnsweredAndTheInstanceCompletes) {
  deploy(review);
  const InstanceState begun = start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  EXPECT_EQ(begun.status, Status::waiting);
  restart();
  const auto done = engine_->complete(only_task(), approval, ann);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_EQ(done->output, Json::object({{"ok", true}, {"amount", 7}}));
  EXPECT_TRUE(engine_->tasks()->empty());
}

TEST_P(EngineOnAStore, ABadInputStartsNothing) {
  deploy(review);
  StartOrder order;
  order.definition = "review";
  const auto refused = engine_->start(order);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_TRUE(engine_->store().list_instances({}, {})->items.empty());
}

TEST_P(EngineOnAStore, WhatCannotBeReadBackIsRefusedAtTheDoor) {
  deploy(listener);
  StartOrder order;
  order.definition = "listener";
  for (const Json& bad :
       {Json(std::string_view("a\0b", 3)), Json("\xff"), Json(std::numeric_limits<double>::infinity())}) {
    order.input = Json::object({{"no", bad}});
    const auto refused = engine_->start(order);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  const InstanceId id = start("listener", Json::object({{"no", "1"}})).instance;
  EXPECT_EQ(engine_->signal(id, "paid", Json(std::string_view("\0", 1)), Json("1")).error().code, ErrorCode::invalid);
  EXPECT_EQ(engine_->broadcast("paid", Json(1), Json()).error().code, ErrorCode::invalid);
  EXPECT_EQ(now(id).version, 1u);
  order.input = Json::object({{"no", "2"}, {"big", std::string(5u << 20, 'x')}});
  EXPECT_EQ(engine_->start(order).error().code, ErrorCode::limit);
}

TEST_P(EngineOnAStore, AResultThatCannotBeKeptIsAFailure) {
  deploy(caller);
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const auto leased = engine_->store().lease_runs({"outside", {"billing."}, {}, 10, Duration::of_seconds(30)});
  ASSERT_EQ(leased->size(), 1u);
  const RunReport report{
      leased->at(0).id, leased->at(0).fence, Json(std::string_view("\0", 1)), std::nullopt, true, std::nullopt,
      "outside"};
  EXPECT_EQ(*engine_->coordinator().report(report), RunAnswer::finished);
  EXPECT_EQ(now(id).status, Status::suspended);
  EXPECT_EQ(now(id).error->code, "invalid_result");
}

TEST_P(EngineOnAStore, AnUnknownDefinitionIsNotFound) {
  deploy(review);
  StartOrder order;
  order.definition = "reviev";
  const auto refused = engine_->start(order);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_NE(refused.error().message.find("did you mean review"), std::string::npos);
}

TEST_P(EngineOnAStore, TheSameKeyStartsOnce) {
  deploy(review);
  StartOrder order;
  order.definition = "review";
  order.input = Json::object({{"amount", 7}, {"no", "R-1"}});
  order.idempotency_key = "k1";
  const auto first = engine_->start(order);
  restart();
  const auto second = engine_->start(order);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->instance, first->instance);
  EXPECT_TRUE(second->repeated);
  order.input.set("amount", 8);
  const auto other = engine_->start(order);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_EQ(engine_->store().list_instances({}, {})->items.size(), 1u);
}

TEST_P(EngineOnAStore, TheWrongPersonMayNotComplete) {
  deploy(review);
  start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  const TaskId task = only_task();
  EXPECT_EQ(engine_->complete(task, approval, {"bob", std::vector<std::string>{"guest"}}).error().code,
            ErrorCode::not_allowed);
  EXPECT_EQ(engine_->complete(task, approval, {"mallory", std::vector<std::string>{"clerk"}}).error().code,
            ErrorCode::not_allowed);
  EXPECT_EQ(engine_->complete(task, Json::object(), ann).error().code, ErrorCode::invalid);
  EXPECT_TRUE(engine_->complete(task, approval, ann).has_value());
}

TEST_P(EngineOnAStore, ASecondCompletionConflictsUnlessItIsTheSameRequest) {
  deploy(review);
  start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  const TaskId task = only_task();
  const auto first = engine_->complete(task, approval, ann, "key");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  restart();
  const auto again = engine_->complete(task, approval, ann, "key");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->version, first->version);
  EXPECT_EQ(again->status, first->status);
  EXPECT_EQ(again->output, first->output) << "it answers as the first one did";
  EXPECT_FALSE(first->output.is_null());
  EXPECT_EQ(engine_->complete(task, approval, ann).error().code, ErrorCode::conflict);
  EXPECT_EQ(engine_->complete(task, Json::object({{"ok", false}}), ann, "key").error().code, ErrorCode::conflict);
}

TEST_P(EngineOnAStore, TimersFireWhenTheirTimeHasCome) {
  deploy(sleeper);
  const InstanceId id = start("sleeper").instance;
  pass(Duration::of_seconds(3599));
  EXPECT_EQ(now(id).version, 1u);
  restart();
  pass(Duration::of_seconds(1));
  EXPECT_EQ(now(id).version, 2u);
  restart();
  pass(Duration::of_seconds(1800));
  EXPECT_EQ(now(id).status, Status::completed);
  EXPECT_EQ(now(id).output, Json::object({{"woken", true}}));
}

TEST_P(EngineOnAStore, ManyTimersAtOnceShareCommits) {
  deploy(sleeper);
  std::vector<InstanceId> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(start("sleeper").instance);
  pass(Duration::of_seconds(3600));
  pass(Duration::of_seconds(1800));
  for (const InstanceId& id : ids) EXPECT_EQ(now(id).status, Status::completed);
}

TEST_P(EngineOnAStore, ASignalReachesItsInstance) {
  deploy(listener);
  const InstanceId id = start("listener", Json::object({{"no", "42"}})).instance;
  restart();
  const auto done = engine_->signal(id, "paid", Json(100), Json("42"));
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_EQ(done->output, Json(100));
  EXPECT_EQ(engine_->signal(id, "paid", Json(100), Json("42")).error().code, ErrorCode::conflict);
}

TEST_P(EngineOnAStore, ABroadcastReachesWhoeverWaitsForTheKey) {
  deploy(listener);
  const InstanceId a = start("listener", Json::object({{"no", "1"}})).instance;
  const InstanceId b = start("listener", Json::object({{"no", "2"}})).instance;
  EXPECT_EQ(*engine_->broadcast("paid", Json("2"), Json(5)), 1u);
  restart();
  engine_->settle();
  EXPECT_EQ(now(a).status, Status::waiting);
  EXPECT_EQ(now(b).output, Json(5));
}

TEST_P(EngineOnAStore, ARepeatThatWasOvertakenLeavesTheQueue) {
  deploy(R"(
cairn: 1
name: twice
version: 1.0.0
steps:
  - signal: { name: paid, key: = "7", result: first }
  - signal: { name: paid, key: = "7", result: second }
)");
  const InstanceId id = start("twice", Json::object()).instance;
  ASSERT_EQ(*engine_->broadcast("paid", Json("7"), Json(1), Duration::of_seconds(60), "s"), 1u);
  ASSERT_TRUE(engine_->signal(id, "paid", Json(2), Json("7"), "s").has_value());
  engine_->settle();
  EXPECT_TRUE(engine_->store().list_messages(id)->empty());
  EXPECT_EQ(now(id).status, Status::waiting) << "one signal is used up by one wait";
}

TEST_P(EngineOnAStore, AnEarlyBroadcastIsKept) {
  deploy(listener);
  EXPECT_EQ(*engine_->broadcast("paid", Json("1"), Json(5)), 0u);
  restart();
  const InstanceId id = start("listener", Json::object({{"no", "1"}})).instance;
  restart();
  engine_->settle();
  EXPECT_EQ(now(id).output, Json(5));
}

// S11: a signal for which `where` is false is left for other waits, also those of other instances.
TEST_P(EngineOnAStore, ASignalThatWhereRefusesIsLeftForOtherInstances) {
  deploy(R"(
cairn: 1
name: paid_for
version: 1.0.0
steps:
  - signal: { name: paid, where: signal.order == input.order, result: first }
  - task: { name: Between }
  - signal: { name: paid, result: second }
output: = state
)");
  const auto order = [](const char* name) { return Json::object({{"order", name}}); };
  const InstanceId one = start("paid_for", order("A")).instance;
  // Nobody but the wrong one waits; then two that wait for others; then the right one.
  ASSERT_TRUE(engine_->broadcast("paid", Json(), order("C")).has_value());
  engine_->settle();
  EXPECT_EQ(now(one).status, Status::waiting);
  restart();
  const InstanceId bob = start("paid_for", order("B")).instance;
  engine_->settle();
  EXPECT_EQ(now(bob).status, Status::waiting);
  const InstanceId cid = start("paid_for", order("C")).instance;
  engine_->settle();
  const auto tasks = engine_->tasks();
  ASSERT_EQ(tasks->size(), 1u) << "only the third one has gone on";
  EXPECT_EQ(tasks->front().instance, cid);
  EXPECT_EQ(engine_->store().find_snapshot(cid)->value().state["first"], order("C"));
  // An early one comes behind one that does not fit.
  ASSERT_TRUE(engine_->broadcast("paid", Json(), order("X")).has_value());
  engine_->settle();
  ASSERT_TRUE(engine_->broadcast("paid", Json(), order("A")).has_value());
  engine_->settle();
  ASSERT_EQ(engine_->tasks(one)->size(), 1u);
  ASSERT_TRUE(engine_->complete(engine_->tasks(one)->front().id, Json(), {"ann", {}}).has_value());
  engine_->settle();
  EXPECT_EQ(now(one).status, Status::completed);
  EXPECT_EQ(now(one).output["second"], order("C")) << "what it left it keeps for its own later waits, oldest first";
}

TEST_P(EngineOnAStore, ALeftSignalLivesNoLongerThanItWasSentFor) {
  deploy(R"(
cairn: 1
name: picky
version: 1.0.0
steps: [ { signal: { name: paid, where: signal == input.n, result: r } } ]
output: = state.r
)");
  start("picky", Json::object({{"n", 1}}));
  ASSERT_TRUE(engine_->broadcast("paid", Json(), Json(2), Duration::of_seconds(60)).has_value());
  pass(Duration::of_seconds(50));
  start("picky", Json::object({{"n", 3}}));
  pass(Duration::of_seconds(20));
  const InstanceId late = start("picky", Json::object({{"n", 2}})).instance;
  engine_->settle();
  EXPECT_EQ(now(late).status, Status::waiting);
}

TEST_P(EngineOnAStore, ARepeatedSignalIsAppliedOnce) {
  deploy(counter);
  const InstanceId id = start("counter").instance;
  ASSERT_TRUE(engine_->signal(id, "add", Json(1), {}, "one").has_value());
  ASSERT_TRUE(engine_->signal(id, "add", Json(1), {}, "two").has_value());
  const auto again = engine_->signal(id, "add", Json(1), {}, "one");
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(engine_->store().find_snapshot(id)->value().state["sum"], Json(2));
}

TEST_P(EngineOnAStore, ManyThreadsOnOneInstanceLoseNothing) {
  deploy(counter);
  const InstanceId id = start("counter").instance;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          if (!engine_->signal(id, "add", Json(1)).has_value()) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(now(id).output, Json(40));
}

TEST_P(EngineOnAStore, AChildThatNeverWaitsEndsInTheSameCommit) {
  deploy(doubler);
  deploy(review);
  deploy(parent);
  const InstanceState begun = start("parent", Json::object({{"n", 4}}));
  EXPECT_EQ(begun.status, Status::waiting);
  EXPECT_EQ(engine_->store().find_snapshot(begun.instance)->value().state["a"], Json(8));
  const auto tasks = engine_->tasks();
  ASSERT_EQ(tasks->size(), 1u);
  restart();
  ASSERT_TRUE(engine_->complete(only_task(), approval, ann).has_value());
  restart();
  engine_->settle();
  EXPECT_EQ(now(begun.instance).status, Status::completed);
  EXPECT_EQ(now(begun.instance).output["b"], Json::object({{"ok", true}, {"amount", 8}}));
}

TEST_P(EngineOnAStore, AChildThatIsCancelledIsAnErrorOfItsParent) {
  deploy(review);
  deploy(R"(
cairn: 1
name: careful
version: 1.0.0
steps: [ { subworkflow: { name: review, input: { amount: 1, no: x }, on_failure: [ { set: { e: = error } } ] } } ]
output: = state.e
)");
  const InstanceId id = start("careful").instance;
  const InstanceId child = engine_->tasks()->at(0).instance;
  ASSERT_TRUE(engine_->cancel(child, "a mistake").has_value());
  restart();
  engine_->settle();
  const Json error = now(id).output;
  EXPECT_EQ(error["class"], Json("business"));
  EXPECT_EQ(error["code"], Json("cancelled"));
  EXPECT_EQ(error["message"], Json("a mistake"));
}

TEST_P(EngineOnAStore, CancellingAParentCancelsItsChildren) {
  deploy(doubler);
  deploy(review);
  deploy(parent);
  const InstanceId id = start("parent", Json::object({{"n", 4}})).instance;
  const InstanceId child = engine_->tasks()->at(0).instance;
  ASSERT_TRUE(engine_->cancel(id, "no longer wanted").has_value());
  EXPECT_EQ(now(id).status, Status::cancelled);
  restart();
  engine_->settle();
  EXPECT_EQ(now(child).status, Status::cancelled);
  EXPECT_TRUE(engine_->tasks()->empty());
  EXPECT_TRUE(engine_->store().list_dead_letters({})->items.empty());
  EXPECT_EQ(engine_->cancel(id, "again").error().code, ErrorCode::conflict);
}

TEST_P(EngineOnAStore, AHandlerDoesTheWork) {
  std::atomic<int> calls = 0;
  handler_ = [&](const Work& work) -> WorkDone {
    ++calls;
    return Json::object({{"charged", work.payload["amount"]}, {"attempt", work.attempt}});
  };
  open();
  deploy(caller);
  engine_->run();
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const auto done = engine_->wait(id, std::chrono::seconds(20));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_EQ(done->output, Json::object({{"charged", 9}, {"attempt", 1}}));
  EXPECT_EQ(calls, 1);
}

TEST_P(EngineOnAStore, AFailureThatCannotBeRetriedSuspends) {
  handler_ = [&](const Work&) -> WorkDone {
    return Failure{FailureClass::business, "card_refused", "no money", Json(), 1, "", ""};
  };
  open();
  deploy(caller);
  engine_->run();
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const auto done = engine_->wait(id, std::chrono::seconds(20));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, Status::failed);
  ASSERT_TRUE(done->error.has_value());
  EXPECT_EQ(done->error->code, "card_refused");
}

TEST_P(EngineOnAStore, AWorkerOutsideLeasesRetriesAndReports) {
  deploy(caller);
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  Store& store = engine_->store();
  const LeaseRequest request{"outside", {"billing."}, {}, 10, Duration::of_seconds(30)};
  auto leased = store.lease_runs(request);
  ASSERT_EQ(leased->size(), 1u);
  const std::string key = leased->at(0).idempotency_key;
  RunReport report{leased->at(0).id,
                   leased->at(0).fence,
                   Json(),
                   Failure{FailureClass::transport, "connect_failed", "refused", Json(), 1, "", ""},
                   true,
                   std::nullopt,
                   "outside"};
  EXPECT_EQ(*engine_->coordinator().report(report), RunAnswer::will_retry);
  EXPECT_EQ(*engine_->coordinator().report(report), RunAnswer::lease_lost);
  pass(Duration::of_seconds(10));
  leased = engine_->store().lease_runs(request);
  ASSERT_EQ(leased->size(), 1u);
  EXPECT_EQ(leased->at(0).idempotency_key, key);
  EXPECT_EQ(leased->at(0).attempt, 2);
  report = {leased->at(0).id, leased->at(0).fence, Json("receipt"), std::nullopt, true, std::nullopt, "outside"};
  EXPECT_EQ(*engine_->coordinator().report(report), RunAnswer::finished);
  EXPECT_EQ(now(id).output, Json("receipt"));
}

TEST_P(EngineOnAStore, AWorkerThatDiesEachTimeEndsInAnIncident) {
  deploy(caller);
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const LeaseRequest request{"outside", {"billing."}, {}, 10, Duration::of_seconds(30)};
  for (int attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_EQ(engine_->store().lease_runs(request)->size(), 1u);
    EXPECT_EQ(now(id).status, Status::waiting);
    pass(Duration::of_seconds(30));
  }
  EXPECT_TRUE(engine_->store().lease_runs(request)->empty());
  EXPECT_EQ(now(id).status, Status::suspended);
  EXPECT_EQ(now(id).error->code, "lease_expired");
  EXPECT_EQ(engine_->store().list_dead_letters({})->items.size(), 1u);
}

TEST_P(EngineOnAStore, AnIncidentIsEditedAndRetried) {
  deploy(divider);
  const InstanceState begun = start("divider", Json::object({{"by", 0}}));
  EXPECT_EQ(begun.status, Status::suspended);
  EXPECT_EQ(now(begun.instance).error->code, "divide_by_zero");
  restart();
  ASSERT_TRUE(engine_->edit(begun.instance, Json::object({{"by", 5}})).has_value());
  const auto done = engine_->retry(begun.instance);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_EQ(done->output, Json(2));
}

TEST_P(EngineOnAStore, AVersionThatTheCallerHasNotSeenConflicts) {
  deploy(review);
  const InstanceId id = start("review", Json::object({{"amount", 7}, {"no", "R-1"}})).instance;
  const auto stale = engine_->coordinator().request(id, SuspendRequested{"x"}, {}, 9);
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, ErrorCode::conflict);
  EXPECT_TRUE(engine_->coordinator().request(id, SuspendRequested{"x"}, {}, 1).has_value());
}

TEST_P(EngineOnAStore, SuspendedInstancesHoldWhatComes) {
  deploy(sleeper);
  const InstanceId id = start("sleeper").instance;
  ASSERT_TRUE(engine_->suspend(id, "audit").has_value());
  pass(Duration::of_seconds(3600));
  EXPECT_EQ(now(id).status, Status::suspended);
  restart();
  ASSERT_TRUE(engine_->resume(id).has_value());
  pass(Duration::of_seconds(1800));
  EXPECT_EQ(now(id).status, Status::completed);
}

TEST_P(EngineOnAStore, CheckpointsCommitEachStep) {
  deploy(stepper);
  const InstanceState done = start("stepper");
  EXPECT_EQ(done.status, Status::completed);
  EXPECT_EQ(done.output, Json(3));
  EXPECT_GE(done.version, 3u);
}

TEST_P(EngineOnAStore, AnEndedInstanceIsDeletedSoftly) {
  deploy(doubler);
  deploy(review);
  const InstanceId id = start("doubler", Json::object({{"n", 1}})).instance;
  EXPECT_TRUE(engine_->coordinator().remove(id, "tidy").has_value());
  EXPECT_TRUE(engine_->store().list_instances({}, {})->items.empty());
  const InstanceId live = start("review", Json::object({{"amount", 1}, {"no", "x"}})).instance;
  EXPECT_EQ(engine_->coordinator().remove(live, "tidy").error().code, ErrorCode::conflict);
}

TEST_P(EngineOnAStore, OtherContentUnderATakenVersionIsRefused) {
  deploy(doubler);
  EXPECT_TRUE(engine_->deploy(doubler).has_value());
  std::string other = doubler;
  other.replace(other.find("* 2"), 3, "* 3");
  EXPECT_EQ(engine_->deploy(other).error().code, ErrorCode::conflict);
  EXPECT_EQ(engine_->deploy("name: x").error().code, ErrorCode::invalid);
}

TEST_P(EngineOnAStore, TasksAreAssignedAndReleased) {
  deploy(review);
  start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  const TaskId task = only_task();
  Coordinator& coordinator = engine_->coordinator();
  TaskChange change;
  change.kind = TaskChange::Kind::assign;
  change.task = task;
  change.assignee = "mallory";
  EXPECT_EQ(coordinator.change_task(change, {}).error().code, ErrorCode::not_allowed);
  change.assignee = "bob";
  EXPECT_TRUE(coordinator.change_task(change, {}).has_value());
  EXPECT_EQ(engine_->complete(task, approval, ann).error().code, ErrorCode::not_allowed) << "it is bob's";
  change.kind = TaskChange::Kind::release;
  EXPECT_TRUE(coordinator.change_task(change, {}).has_value());
  EXPECT_TRUE(engine_->complete(task, approval, ann).has_value());
}

TEST_P(EngineOnAStore, DeadlinesAndRemindersKnowWhoHasTheTask) {
  deploy(R"(
cairn: 1
name: nudging
version: 1.0.0
steps:
  - task: { name: T, remind: [10m], deadline: { after: 1h, interrupt: false, steps: [ { set: { beside: = task.assignee } } ] } }
  - first:
      - task: { name: U, remind: [10m] }
      - task: { name: V }
  - task: { name: W, deadline: { after: 1h, steps: [ { set: { expired: = task.assignee } } ] } }
output: = state
)");
  const InstanceId id = start("nudging").instance;
  const auto assign = [&](const std::string& name, const std::string& person) {
    const auto tasks = engine_->tasks();
    ASSERT_TRUE(tasks.has_value());
    for (const OpenTaskView& task : *tasks) {
      if (task.name != name) continue;
      TaskChange change;
      change.task = task.id;
      change.assignee = person;
      ASSERT_TRUE(engine_->coordinator().change_task(change, {}).has_value());
    }
  };
  const auto complete = [&](const std::string& name, const std::string& person) {
    const auto tasks = engine_->tasks();
    ASSERT_TRUE(tasks.has_value());
    for (const OpenTaskView& task : *tasks) {
      if (task.name != name) continue;
      ASSERT_TRUE(engine_->complete(task.id, Json(), {person, {}}).has_value());
    }
  };
  assign("T", "ann");
  pass(Duration::of_seconds(3600));
  complete("T", "ann");
  assign("U", "bob");
  assign("V", "eve");
  pass(Duration::of_seconds(600));
  complete("V", "eve");
  assign("W", "cid");
  pass(Duration::of_seconds(3600));
  EXPECT_EQ(now(id).output, Json::object({{"beside", "ann"}, {"expired", "cid"}}));
  std::vector<std::string> reminded;
  const auto outbox = engine_->store().claim_outbox(100, Duration{});
  ASSERT_TRUE(outbox.has_value());
  for (const OutboxRow& row : *outbox) {
    reminded.emplace_back(row.event.data["task"].text_or("assignee", ""));
  }
  EXPECT_EQ(reminded, (std::vector<std::string>{"ann", "bob"}));
}

TEST_P(EngineOnAStore, TheHistorySaysWhoEditedTheState) {
  deploy(divider);
  const InstanceId id = start("divider", Json::object({{"by", 0}})).instance;
  ASSERT_TRUE(engine_->edit(id, Json::object({{"by", 5}}), {"olga", {}}).has_value());
  restart();
  const auto history = engine_->store().history(id, {});
  ASSERT_TRUE(history.has_value());
  const LogEntry& last = history->items.back().entry;
  EXPECT_EQ(last.kind, LogEntry::Kind::edited);
  EXPECT_EQ(last.actor, "olga");
  EXPECT_EQ(last.details, Json::object({{"changed", Json::array({"/by"})}}));
}

TEST(EngineThreads, ATimerWakesTheLoopWithoutPolling) {
  auto engine = Engine::open({});
  ASSERT_TRUE(engine.has_value());
  ASSERT_TRUE(
      (*engine)->deploy("cairn: 1\nname: nap\nversion: 1.0.0\nsteps:\n  - wait: 60ms\noutput: 1\n").has_value());
  (*engine)->run();
  StartOrder order;
  order.definition = "nap";
  const auto begun = std::chrono::steady_clock::now();
  const auto started = (*engine)->start(order);
  ASSERT_TRUE(started.has_value());
  const auto done = (*engine)->wait(started->instance, std::chrono::seconds(30));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(59));
}

TEST(EngineThreads, AWaitThatIsTooShortGivesTheInstanceAsItIs) {
  auto engine = Engine::open({});
  ASSERT_TRUE((*engine)->deploy(sleeper).has_value());
  (*engine)->run();
  StartOrder order;
  order.definition = "sleeper";
  const auto started = (*engine)->start(order);
  const auto waited = (*engine)->wait(started->instance, std::chrono::milliseconds(5));
  ASSERT_TRUE(waited.has_value());
  EXPECT_EQ(waited->status, Status::waiting);
  (*engine)->stop();
  EXPECT_EQ((*engine)->start(order).error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace cairn
