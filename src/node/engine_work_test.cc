// Calls to workers and children through the embedding interface.
#include "node/engine_fixture_test.h"

#include <atomic>

#include "instance/carried_trace.h"
#include "instance/trace_id.h"

namespace cairn::node {

TEST_P(EngineOnAStore, AChildThatNeverWaitsEndsInTheSameCommit) {
  deploy(doubler);
  deploy(review);
  deploy(parent);
  const InstanceAnswer begun = start("parent", Json::object({{"n", 4}}));
  EXPECT_EQ(begun.status, Status::waiting);
  EXPECT_EQ(engine_->store().find_snapshot(begun.instance)->value().state["a"], Json(8));
  const auto tasks = engine_->tasks();
  ASSERT_EQ(tasks->size(), 1u);
  restart();
  ASSERT_TRUE(engine_->complete(only_task(), approval, ann).has_value());
  restart();
  engine_->run_until_idle();
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
  engine_->run_until_idle();
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
  engine_->run_until_idle();
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

TEST_P(EngineOnAStore, AFailureWithoutAClassIsRetriedLikeAnyOther) {
  std::atomic<int> calls = 0;
  handler_ = [&](const Work& work) -> WorkDone {
    ++calls;
    if (work.attempt == 2) return Json(work.attempt);
    Failure busy;
    busy.code = "busy";
    WorkDone done(busy);
    done.retry_after = Duration();
    return done;
  };
  open();
  deploy(caller);
  engine_->run();
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const auto done = engine_->wait(id, std::chrono::seconds(20));
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(done->status, Status::completed) << (done->error ? done->error->code : "");
  EXPECT_EQ(done->output, Json(2));
  EXPECT_EQ(calls, 2);
}

TEST_P(EngineOnAStore, ARetryByAnOperatorKeepsTheKeyOfTheCall) {
  deploy(caller);
  const InstanceId id = start("caller", Json::object({{"amount", 9}})).instance;
  const LeaseRequest request{"outside", {"billing."}, {}, 10, Duration::of_seconds(30)};
  std::vector<std::string> keys;
  std::vector<RunId> runs;
  const auto fail = [&] {
    const auto leased = engine_->store().lease_runs(request);
    ASSERT_EQ(leased->size(), 1u);
    keys.push_back(leased->at(0).idempotency_key);
    runs.push_back(leased->at(0).id);
    Failure down;
    down.code = "down";
    const RunReport report{leased->at(0).id, leased->at(0).fence, Json(), down, false, std::nullopt, "outside"};
    ASSERT_EQ(*engine_->core().reports().report(report), RunAnswer::finished);
    ASSERT_EQ(now(id).status, Status::suspended);
  };
  fail();
  ASSERT_TRUE(engine_->retry(id, {}, "the bank is back").has_value());
  restart();
  fail();
  ASSERT_TRUE(engine_->retry(id).has_value());
  fail();
  EXPECT_FALSE(keys[0].empty());
  EXPECT_EQ(keys[1], keys[0]);
  EXPECT_EQ(keys[2], keys[0]);
  EXPECT_NE(runs[1], runs[0]) << "a retry is a run of its own";
  ASSERT_TRUE(engine_->retry(id, {}, "as a new order", true).has_value());
  fail();
  EXPECT_NE(keys[3], keys[0]);
  ASSERT_TRUE(engine_->retry(id).has_value());
  fail();
  EXPECT_EQ(keys[4], keys[3]) << "the new key is kept from then on";
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
  EXPECT_EQ(*engine_->core().reports().report(report), RunAnswer::will_retry);
  EXPECT_EQ(*engine_->core().reports().report(report), RunAnswer::lease_lost);
  pass(Duration::of_seconds(10));
  leased = engine_->store().lease_runs(request);
  ASSERT_EQ(leased->size(), 1u);
  EXPECT_EQ(leased->at(0).idempotency_key, key);
  EXPECT_EQ(leased->at(0).attempt, 2);
  report = {leased->at(0).id, leased->at(0).fence, Json("receipt"), std::nullopt, true, std::nullopt, "outside"};
  EXPECT_EQ(*engine_->core().reports().report(report), RunAnswer::finished);
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

TEST_P(EngineOnAStore, ACallersTraceReachesWorkersChildrenAndEvents) {
  std::vector<std::string> traces;
  handler_ = [&](const Work& work) -> WorkDone {
    traces.push_back(work.traceparent());
    return work.payload;
  };
  open();
  deploy(caller);
  deploy(R"(
cairn: 1
name: outer
version: 1.0.0
steps:
  - task: { name: Review }
  - subworkflow: { name: caller, input: { amount: 1 }, result: receipt }
  - emit: { type: outer.done, subject: s, data: [1, 2] }
output: = state.receipt
)");
  StartRequest request;
  request.definition = "outer";
  request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const InstanceId id = engine_->start(request)->instance;
  restart();
  engine_->run();
  ASSERT_TRUE(engine_->complete(only_task(), Json::object(), ann).has_value());
  ASSERT_EQ(engine_->wait(id, std::chrono::seconds(20))->status, Status::completed);
  EXPECT_EQ(now(id).output, Json::object({{"amount", 1}}));
  ASSERT_EQ(traces.size(), 1u);
  EXPECT_EQ(traces[0].substr(3, 32), request.traceparent.substr(3, 32));
  EXPECT_NE(traces[0].substr(36, 16), request.traceparent.substr(36, 16));
  const auto events = engine_->store().list_outbox({}, {});
  ASSERT_EQ(events->items.size(), 1u);
  const Carried carried = without_trace(events->items[0].event.data);
  EXPECT_EQ(carried.value, Json::array({1, 2}));
  EXPECT_EQ(carried.traceparent.substr(3, 32), request.traceparent.substr(3, 32));

  // An invalid traceparent does not fail the request: the instance starts a new trace.
  request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331";
  request.definition = "caller";
  request.input = Json::object({{"amount", 2}});
  const InstanceId own = engine_->start(request)->instance;
  ASSERT_EQ(engine_->wait(own, std::chrono::seconds(20))->status, Status::completed);
  EXPECT_EQ(traces.at(1).substr(3, 32), trace_id_of(own));
}

}  // namespace cairn::node
