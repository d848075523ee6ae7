// Defects that the simulation and its oracle found in worlds with several nodes and failing stores, each as a small
// test.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn::sim {
namespace {

std::shared_ptr<const Program> program_of(const char* text) { return load_definition(text, "test.yaml").program; }

// Writes, and says that it could not.
class LyingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    auto outcomes = behind_.commit(units);
    if (lies > 0) {
      --lies;
      return Error{ErrorCode::unavailable, "the connection was lost"};
    }
    return outcomes;
  }
  Result<std::vector<Message>> take_messages(std::size_t max, Duration hold) override {
    return reads ? behind_.take_messages(max, hold) : Error{ErrorCode::unavailable, "the connection was lost"};
  }
  Result<std::vector<RunRow>> exhausted_runs(std::size_t max) override {
    return reads ? behind_.exhausted_runs(max) : Error{ErrorCode::unavailable, "the connection was lost"};
  }
  int lies = 0;
  bool reads = true;
};

class Found : public testing::Test {
 protected:
  std::unique_ptr<EngineCore> node(Store& store) {
    CoreOptions options;
    options.yield = [] {};
    return std::move(EngineCore::open(store, std::move(options)).value());
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory_{clock_};
};

TEST_F(Found, AChildThatAnotherNodeDeployedIsKnown) {
  // Each node has its own listener; here nothing forwards notifications.
  const auto second = node(memory_);
  const auto first = node(memory_);
  ASSERT_TRUE(first->registry()
                  .deploy(program_of("{cairn: 1, name: grandchild, version: 1.0.0, steps: [{set: {a: 1}}], output: 7}"))
                  .has_value());
  ASSERT_TRUE(first->registry()
                  .deploy(program_of("{cairn: 1, name: child, version: 1.0.0, steps: [{subworkflow: {name: grandchild, "
                                     "result: r}}], output: '= state.r'}"))
                  .has_value());
  const char* parent =
      "{cairn: 1, name: parent, version: 1.0.0, steps: [{subworkflow: {name: child, result: r}}], output: '= state.r'}";
  ASSERT_TRUE(first->registry().deploy(program_of(parent)).has_value());
  StartRequest request;
  request.definition = "parent";
  const auto answer = second->instances().start(request);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status, Status::completed);
  EXPECT_EQ(answer->output, Json(7));
}

TEST_F(Found, ASliceThatAFailingStoreCutGoesOnByItself) {
  LyingStore store(memory_);
  const auto only = node(store);
  const char* stepper =
      "{cairn: 1, name: stepper, version: 1.0.0, checkpoint: step, steps: [{set: {a: 1}}, {set: {b: 2}}, {set: {c: "
      "3}}], "
      "output: '= state.c'}";
  ASSERT_TRUE(only->registry().deploy(program_of(stepper)).has_value());
  for (const int lies : {1, 3}) {
    StartRequest request;
    request.definition = "stepper";
    request.id = "cut-" + std::to_string(lies);
    store.lies = lies;
    ASSERT_FALSE(only->instances().start(request).has_value());
    while (store.lies > 0) only->due().fire_timers();
    only->due().fire_timers();
    const auto row = memory_.find_instance({request.id});
    ASSERT_TRUE(row.has_value() && row->has_value());
    EXPECT_EQ((*row)->status, Status::completed) << lies;
  }
}

// The time of such a run is over and a message has none: without this, both wait for whatever else falls due.
TEST_F(Found, WhatCouldNotBeReadIsLookedAtAgain) {
  LyingStore store(memory_);
  const auto only = node(store);
  std::optional<Timestamp> due;
  only->listeners().on_wakeup([&](const Wakeup& wakeup) { due = wakeup.due; });
  store.reads = false;
  EXPECT_EQ(only->due().end_exhausted_runs(), 0u);
  ASSERT_TRUE(due.has_value());
  EXPECT_GT(*due, clock_.now());
  due.reset();
  EXPECT_EQ(only->due().dispatch_messages(), 0u);
  EXPECT_TRUE(due.has_value());
}

TEST_F(Found, ARunWithoutAttemptsThatCouldNotBeEndedIsLookedAtAgain) {
  LyingStore store(memory_);
  const auto only = node(store);
  RunRequest request;
  request.type = "mail";
  request.attempts_max = 1;
  ASSERT_TRUE(only->runs().submit_all({&request, 1}).has_value());
  LeaseRequest lease;
  lease.types = {"mail"};
  lease.worker = "gone";
  lease.length = Duration::of_seconds(30);
  ASSERT_EQ(memory_.lease_runs(lease)->size(), 1u);
  clock_.advance(Duration::of_seconds(31));
  std::optional<Timestamp> due;
  only->listeners().on_wakeup([&](const Wakeup& wakeup) {
    if (wakeup.due) due = wakeup.due;
  });
  store.lies = 1;
  EXPECT_EQ(only->due().end_exhausted_runs(), 0u);
  ASSERT_TRUE(due.has_value());
  EXPECT_GT(*due, clock_.now());
}

}  // namespace
}  // namespace cairn::sim
