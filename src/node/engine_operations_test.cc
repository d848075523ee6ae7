// Operator actions through the embedding interface.
#include "node/engine_fixture_test.h"

namespace cairn::node {

TEST_P(EngineOnAStore, AnIncidentIsEditedAndRetried) {
  deploy(divider);
  const InstanceAnswer begun = start("divider", Json::object({{"by", 0}}));
  EXPECT_EQ(begun.status, Status::suspended);
  EXPECT_EQ(now(begun.instance).error->code, "divide_by_zero");
  restart();
  ASSERT_TRUE(engine_->edit(begun.instance, Json::object({{"by", 5}})).has_value());
  const auto done = engine_->retry(begun.instance);
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_EQ(done->output, Json(2));
}

TEST_P(EngineOnAStore, AnswersNameTheErrorAlsoWhenARequestIsRepeated) {
  deploy(divider);
  StartRequest request;
  request.definition = "divider";
  request.input = Json::object({{"by", 0}});
  request.idempotency_key = "once";
  const auto begun = engine_->start(request);
  ASSERT_TRUE(begun.has_value()) << begun.error().message;
  ASSERT_TRUE(begun->error.has_value());
  EXPECT_EQ(begun->error->code, "divide_by_zero");
  const auto again = engine_->start(request);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->state_version, begun->state_version);
  ASSERT_TRUE(again->error.has_value());
  EXPECT_EQ(again->error->code, "divide_by_zero");
}

TEST_P(EngineOnAStore, AStateVersionThatTheCallerHasNotSeenConflicts) {
  deploy(review);
  const InstanceId id = start("review", Json::object({{"amount", 7}, {"no", "R-1"}})).instance;
  const auto stale = engine_->core().instances().request(id, SuspendRequested{"x"}, {}, 9);
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, ErrorCode::conflict);
  EXPECT_TRUE(engine_->core().instances().request(id, SuspendRequested{"x"}, {}, 1).has_value());
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

TEST_P(EngineOnAStore, AnEndedInstanceIsDeletedSoftly) {
  deploy(doubler);
  deploy(review);
  const InstanceId id = start("doubler", Json::object({{"n", 1}})).instance;
  EXPECT_TRUE(engine_->core().instances().remove(id, "tidy").has_value());
  EXPECT_TRUE(engine_->store().list_instances({}, {})->items.empty());
  const InstanceId live = start("review", Json::object({{"amount", 1}, {"no", "x"}})).instance;
  EXPECT_EQ(engine_->core().instances().remove(live, "tidy").error().code, ErrorCode::conflict);
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

}  // namespace cairn::node
