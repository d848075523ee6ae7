// The whole path from definition to result through the embedding interface, on both stores, with a clock that the test
// moves.
#include "node/engine_fixture_test.h"

#include <limits>

namespace cairn::node {

INSTANTIATE_TEST_SUITE_P(Stores, EngineOnAStore, testing::Values("memory", "sqlite"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(EngineOnAStore, ATaskIsAnsweredAndTheInstanceCompletes) {
  deploy(review);
  const InstanceAnswer begun = start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
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
  StartRequest request;
  request.definition = "review";
  const auto refused = engine_->start(request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_TRUE(engine_->store().list_instances({}, {})->items.empty());
}

TEST_P(EngineOnAStore, WhatCannotBeReadBackIsRefusedAtTheDoor) {
  deploy(listener);
  StartRequest request;
  request.definition = "listener";
  for (const Json& bad :
       {Json(std::string_view("a\0b", 3)), Json("\xff"), Json(std::numeric_limits<double>::infinity())}) {
    request.input = Json::object({{"no", bad}});
    const auto refused = engine_->start(request);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  }
  const InstanceId id = start("listener", Json::object({{"no", "1"}})).instance;
  EXPECT_EQ(engine_->signal(id, "paid", Json(std::string_view("\0", 1)), Json("1")).error().code, ErrorCode::invalid);
  EXPECT_EQ(engine_->broadcast("paid", Json(1), Json()).error().code, ErrorCode::invalid);
  EXPECT_EQ(now(id).state_version, 1u);
  request.input = Json::object({{"no", "2"}, {"big", std::string(5u << 20, 'x')}});
  EXPECT_EQ(engine_->start(request).error().code, ErrorCode::limit);
}

TEST_P(EngineOnAStore, AResultThatCannotBeKeptIsAFailure) {
  deploy(caller);
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const auto leased = engine_->store().lease_runs({"outside", {"billing."}, {}, 10, Duration::of_seconds(30)});
  ASSERT_EQ(leased->size(), 1u);
  const RunReport report{
      leased->at(0).id, leased->at(0).fence, Json(std::string_view("\0", 1)), std::nullopt, true, std::nullopt,
      "outside"};
  EXPECT_EQ(*engine_->core().reports().report(report), RunAnswer::finished);
  EXPECT_EQ(now(id).status, Status::suspended);
  EXPECT_EQ(now(id).error->code, "invalid_result");
}

TEST_P(EngineOnAStore, AnUnknownDefinitionIsNotFound) {
  deploy(review);
  StartRequest request;
  request.definition = "reviev";
  const auto refused = engine_->start(request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::not_found);
  EXPECT_NE(refused.error().message.find("did you mean review"), std::string::npos);
}

TEST_P(EngineOnAStore, TheSameKeyStartsOnce) {
  deploy(review);
  StartRequest request;
  request.definition = "review";
  request.input = Json::object({{"amount", 7}, {"no", "R-1"}});
  request.idempotency_key = "k1";
  const auto first = engine_->start(request);
  restart();
  const auto second = engine_->start(request);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->instance, first->instance);
  EXPECT_TRUE(second->repeated);
  request.input.set("amount", 8);
  const auto other = engine_->start(request);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::conflict);
  EXPECT_EQ(engine_->store().list_instances({}, {})->items.size(), 1u);
}

TEST_P(EngineOnAStore, CheckpointsCommitEachStep) {
  deploy(stepper);
  const InstanceAnswer done = start("stepper");
  EXPECT_EQ(done.status, Status::completed);
  EXPECT_EQ(done.output, Json(3));
  EXPECT_GE(done.state_version, 3u);
}

TEST_P(EngineOnAStore, OtherContentUnderATakenVersionIsRefused) {
  deploy(doubler);
  EXPECT_TRUE(engine_->deploy(doubler).has_value());
  std::string other = doubler;
  other.replace(other.find("* 2"), 3, "* 3");
  EXPECT_EQ(engine_->deploy(other).error().code, ErrorCode::conflict);
  EXPECT_EQ(engine_->deploy("name: x").error().code, ErrorCode::invalid);
}

TEST(EngineThreads, ATimerWakesTheLoopWithoutPolling) {
  auto engine = Engine::open({});
  ASSERT_TRUE(engine.has_value());
  ASSERT_TRUE(
      (*engine)->deploy("cairn: 1\nname: nap\nversion: 1.0.0\nsteps:\n  - wait: 60ms\noutput: 1\n").has_value());
  (*engine)->run();
  StartRequest request;
  request.definition = "nap";
  const auto begun = std::chrono::steady_clock::now();
  const auto started = (*engine)->start(request);
  ASSERT_TRUE(started.has_value());
  const auto done = (*engine)->wait(started->instance, std::chrono::seconds(30));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(59));
}

TEST(EngineThreads, AWaitMayBeAsLongAsItsTypeAllows) {
  auto engine = Engine::open({});
  ASSERT_TRUE((*engine)->deploy("cairn: 1\nname: nap\nversion: 1.0.0\nsteps:\n  - wait: 60ms\n").has_value());
  (*engine)->run();
  StartRequest request;
  request.definition = "nap";
  const auto started = (*engine)->start(request);
  ASSERT_TRUE(started.has_value());
  const auto done = (*engine)->wait(started->instance, std::chrono::milliseconds::max());
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, Status::completed);
}

TEST(EngineThreads, AWaitThatIsTooShortGivesTheInstanceAsItIs) {
  auto engine = Engine::open({});
  ASSERT_TRUE((*engine)->deploy(sleeper).has_value());
  (*engine)->run();
  StartRequest request;
  request.definition = "sleeper";
  const auto started = (*engine)->start(request);
  const auto waited = (*engine)->wait(started->instance, std::chrono::milliseconds(5));
  ASSERT_TRUE(waited.has_value());
  EXPECT_EQ(waited->status, Status::waiting);
  (*engine)->stop();
  EXPECT_EQ((*engine)->start(request).error().code, ErrorCode::unavailable);
}

}  // namespace cairn::node
