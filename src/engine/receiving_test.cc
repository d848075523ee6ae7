// What becomes of a message that the store refuses to write.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn {
namespace {

constexpr const char* receiver = R"(
cairn: 1
name: listener
version: 1.0.0
steps:
  - signal: { name: go, result: got }
output: = state.got
)";

// Refuses a given number of advances that a message causes. Removing the message is no advance.
class RefusingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    const bool caused = std::any_of(units.begin(), units.end(),
                                    [](const Unit& unit) { return unit.message && !unit.advances.empty(); });
    if (!caused || refusals == 0) return ForwardingStore::commit(units);
    --refusals;
    CommitOutcome refused;
    refused.kind = CommitOutcome::Kind::failed;
    refused.error = {ErrorCode::invalid, "this cannot be written"};
    return std::vector<CommitOutcome>(units.size(), refused);
  }
  int refusals = 0;
};

class Receiving : public testing::Test {
 protected:
  void open(CoreOptions options) {
    core_ = std::move(*EngineCore::open(store_, std::move(options)));
    const Definition definition = load_definition(receiver, "test");
    ASSERT_TRUE(core_->registry().deploy(definition.program).has_value());
    StartRequest request;
    request.definition = "listener";
    request.id = "l";
    ASSERT_TRUE(core_->instances().start(request).has_value());
    SignalRequest signal;
    signal.name = "go";
    signal.payload = Json(1);
    ASSERT_EQ(core_->instances().broadcast(signal)->delivered.size(), 1u);
  }
  // Until what was taken is given out again.
  void run_after_the_hold() {
    core_->due().run_until_idle();
    clock_.advance(Duration::of_seconds(31));
  }
  Status status() { return memory_.find_instance({"l"})->value().status; }
  std::size_t letters() { return memory_.list_dead_letters({10, ""})->items.size(); }
  std::size_t messages() { return memory_.list_messages({"l"})->size(); }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory_{clock_};
  RefusingStore store_{memory_};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(Receiving, WhatIsRefusedIsGivenUpAndKept) {
  store_.refusals = 1;
  open({});
  run_after_the_hold();
  EXPECT_EQ(letters(), 1u);
  EXPECT_EQ(messages(), 0u);
  EXPECT_EQ(status(), Status::waiting);
}

// Refusals are not kept for ever: most messages are delivered after them, perhaps by another node.
TEST_F(Receiving, ARefusalOfLongAgoDoesNotCount) {
  CoreOptions options;
  options.refused_attempts = 2;
  store_.refusals = 2;
  open(options);
  run_after_the_hold();
  clock_.advance(Duration::of_seconds(3600));
  run_after_the_hold();
  EXPECT_EQ(letters(), 0u);
  run_after_the_hold();
  EXPECT_EQ(status(), Status::completed);
}

TEST_F(Receiving, ItMayBeTriedSeveralTimes) {
  store_.refusals = 2;
  CoreOptions options;
  options.refused_attempts = 3;
  open(std::move(options));
  run_after_the_hold();
  EXPECT_EQ(messages(), 1u) << "it comes again";
  run_after_the_hold();
  run_after_the_hold();
  EXPECT_EQ(letters(), 0u);
  EXPECT_EQ(status(), Status::completed);
}

TEST_F(Receiving, ThenItIsGivenUpAllTheSame) {
  store_.refusals = 3;
  CoreOptions options;
  options.refused_attempts = 3;
  open(std::move(options));
  for (int i = 0; i < 3; ++i) run_after_the_hold();
  EXPECT_EQ(store_.refusals, 0);
  EXPECT_EQ(letters(), 1u);
  EXPECT_EQ(messages(), 0u);
}

TEST_F(Receiving, WithoutDeadLettersItIsOnlyLogged) {
  store_.refusals = 1;
  CoreOptions options;
  options.dead_letters = false;
  open(std::move(options));
  run_after_the_hold();
  EXPECT_EQ(letters(), 0u);
  EXPECT_EQ(messages(), 0u);
  EXPECT_EQ(status(), Status::waiting);
}

// The instance waits for `go`, but not for this one, and can keep no more.
TEST_F(Receiving, ABroadcastSignalThatCannotBeKeptStaysVisible) {
  CoreOptions options;
  options.limits.buffered_signals_max = 1;
  options.dead_letters = false;  // the sender has the answer that it is pending
  core_ = std::move(*EngineCore::open(store_, std::move(options)));
  const Definition definition = load_definition(R"(
cairn: 1
name: picky
version: 1.0.0
steps:
  - signal: { name: go, where: = signal > 5, result: got }
output: = state.got
)",
                                                "test");
  ASSERT_TRUE(definition.program) << "the definition is valid";
  ASSERT_TRUE(core_->registry().deploy(definition.program).has_value());
  StartRequest request;
  request.definition = "picky";
  request.id = "l";
  ASSERT_TRUE(core_->instances().start(request).has_value());
  SignalRequest signal;
  signal.name = "other";
  ASSERT_TRUE(core_->instances().signal({"l"}, signal).has_value());
  signal.name = "go";
  signal.payload = Json(1);
  ASSERT_EQ(core_->instances().broadcast(signal)->delivered.size(), 1u);
  run_after_the_hold();
  EXPECT_EQ(status(), Status::waiting);
  EXPECT_EQ(messages(), 0u);
  ASSERT_EQ(letters(), 1u);
  EXPECT_EQ(memory_.list_dead_letters({10, ""})->items[0].envelope["body"]["payload"], Json(1));
  signal.payload = Json(6);
  EXPECT_EQ(core_->instances().signal({"l"}, signal)->status, Status::completed) << "what it waits for is taken";
}

// No definition refused it when it was sent, but the instance does.
TEST_F(Receiving, ABroadcastSignalThatTheInstanceRefusesStaysVisible) {
  CoreOptions options;
  options.dead_letters = false;
  core_ = std::move(*EngineCore::open(store_, std::move(options)));
  SignalRequest signal;
  signal.name = "go";
  signal.payload = Json("text");
  ASSERT_TRUE(core_->instances().broadcast(signal)->kept);
  const Definition definition = load_definition(R"(
cairn: 1
name: strict
version: 1.0.0
signals: { go: { schema: { type: number } } }
steps:
  - signal: { name: go }
)",
                                                "test");
  ASSERT_TRUE(definition.program) << "the definition is valid";
  ASSERT_TRUE(core_->registry().deploy(definition.program).has_value());
  StartRequest request;
  request.definition = "strict";
  request.id = "l";
  ASSERT_TRUE(core_->instances().start(request).has_value());
  run_after_the_hold();
  EXPECT_EQ(status(), Status::waiting);
  EXPECT_EQ(messages(), 0u);
  EXPECT_EQ(letters(), 1u);
}

TEST_F(Receiving, ARepeatOfASignalThatWasTakenIsNoRefusal) {
  CoreOptions options;
  options.limits.buffered_signals_max = 1;
  open(std::move(options));
  core_->due().run_until_idle();
  StartRequest request;
  request.definition = "listener";
  request.id = "m";
  ASSERT_TRUE(core_->instances().start(request).has_value());
  SignalRequest signal;
  signal.name = "early";
  signal.id = "first";
  ASSERT_TRUE(core_->instances().signal({"m"}, signal).has_value());
  const auto again = core_->instances().signal({"m"}, signal);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->repeated);
  signal.id = "second";
  const auto refused = core_->instances().signal({"m"}, signal);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::limit);
  EXPECT_EQ(memory_.find_instance({"m"})->value().status, Status::waiting);
}

TEST_F(Receiving, ABatchIsAsLargeAsItIsTold) {
  CoreOptions options;
  options.due_batch = 1;
  open(std::move(options));
  EXPECT_EQ(core_->due().dispatch_messages(), 1u);
  EXPECT_EQ(status(), Status::completed);
}

}  // namespace
}  // namespace cairn
