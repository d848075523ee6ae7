// Operator actions through the embedding interface.
#include "node/engine_fixture_test.h"

#include <algorithm>

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
  ASSERT_TRUE(engine_->edit(id, Json::object({{"by", 5}, {"note", "x"}}), {"olga", {}}, "a typing error").has_value());
  restart();
  const auto history = engine_->store().history(id, {});
  ASSERT_TRUE(history.has_value());
  const LogEntry& last = history->items.back().entry;
  EXPECT_EQ(last.kind, LogEntry::Kind::edited);
  EXPECT_EQ(last.actor, "olga");
  EXPECT_EQ(last.details["reason"], Json("a typing error"));
  EXPECT_EQ(last.details["changed"], Json::array({Json::object({{"path", "/by"}, {"old", 0}, {"new", 5}}),
                                                  Json::object({{"path", "/note"}, {"new", "x"}})}));
}

TEST_P(EngineOnAStore, TheHistorySaysWhyAnIncidentWasRetriedOrSkipped) {
  deploy(divider);
  const InstanceId id = start("divider", Json::object({{"by", 0}})).instance;
  const auto last = [&](LogEntry::Kind kind) {
    const auto rows = engine_->store().history(id, {})->items;
    const auto found =
        std::find_if(rows.rbegin(), rows.rend(), [&](const HistoryRow& row) { return row.entry.kind == kind; });
    return found == rows.rend() ? Json() : found->entry.details;
  };
  ASSERT_TRUE(engine_->retry(id, {"olga", {}}, "once more").has_value());
  EXPECT_EQ(last(LogEntry::Kind::resumed)["reason"], Json("once more"));
  EXPECT_EQ(last(LogEntry::Kind::resumed)["retry"], Json("divide"));
  ASSERT_TRUE(engine_->skip(id, Json(), {"olga", {}}, "not needed").has_value());
  EXPECT_EQ(last(LogEntry::Kind::skipped)["reason"], Json("not needed"));
}

TEST_P(EngineOnAStore, ASignalMayRequireAStateVersion) {
  deploy(counter);
  const InstanceId id = start("counter").instance;
  SignalRequest signal;
  signal.name = "add";
  signal.payload = Json(1);
  signal.id = "once";
  signal.state_version = 9;
  const auto stale = engine_->core().instances().signal(id, signal);
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, ErrorCode::conflict);
  EXPECT_TRUE(stale.error().message.starts_with("stale_version:")) << stale.error().message;
  signal.state_version = 1;
  ASSERT_TRUE(engine_->core().instances().signal(id, signal).has_value());
  const auto again = engine_->core().instances().signal(id, signal);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->repeated) << "a repeat is recognized although the instance has moved";
}

}  // namespace cairn::node
