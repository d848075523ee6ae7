#include <gtest/gtest.h>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "engine/request_key.h"
#include "instance/carried_trace.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn {
namespace {

constexpr const char* charging = R"(
cairn: 1
name: charging
version: 1.0.0
steps:
  - id: charge
    call:
      worker: { type: billing.charge.v1, payload: { customer: = input.customer } }
      retry: { attempts: 2, backoff: 1s }
      result: receipt
      on_failure: [ { set: { failed: = error.code } } ]
output: = state
)";

class RunsTest : public testing::Test {
 protected:
  void SetUp() override {
    core_ = std::move(*EngineCore::open(store_, {}));
    ASSERT_TRUE(core_->registry().deploy(load_definition(charging, "test.yaml").program));
  }
  EngineCore& core() { return *core_; }
  InstanceId start(const std::string& customer = "ada") {
    StartRequest request;
    request.definition = "charging";
    request.input = Json::object({{"customer", customer}});
    auto started = core().instances().start(request);
    EXPECT_TRUE(started) << started.error().message;
    return started->instance;
  }
  Snapshot find(const InstanceId& id) { return **store_.find_snapshot(id); }
  std::vector<RunRow> lease(std::size_t max = 10) {
    return *store_.lease_runs({"w", {"billing."}, {}, max, Duration::of_seconds(30)});
  }
  RunReport failed(const RunRow& run, const std::string& code) {
    RunReport report;
    report.run = run.id;
    report.fence = run.fence;
    report.failure = Failure{FailureClass::transport, code, "", Json(), 1, "", ""};
    report.worker = "w";
    return report;
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store_{clock_};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(RunsTest, AResultMovesItsInstanceInTheSameCommit) {
  const InstanceId id = start();
  const RunRow run = lease().at(0);
  EXPECT_EQ(run.instance, id);
  const std::uint64_t state_version = find(id).state_version;
  EXPECT_EQ(*core().reports().report({run.id, run.fence, Json("ok"), {}, true, {}, "w"}), RunAnswer::finished);
  EXPECT_EQ(find(id).output, Json::object({{"receipt", "ok"}}));
  EXPECT_EQ(find(id).state_version, state_version + 1);
  EXPECT_EQ(*core().reports().report({run.id, run.fence, Json("again"), {}, true, {}, "w"}), RunAnswer::lease_lost);
}

TEST_F(RunsTest, AFailureIsTriedAgainAndThenHandled) {
  const InstanceId id = start();
  EXPECT_EQ(*core().reports().report(failed(lease().at(0), "busy")), RunAnswer::will_retry);
  EXPECT_TRUE(lease().empty());
  clock_.advance(Duration::of_seconds(2));
  EXPECT_EQ(*core().reports().report(failed(lease().at(0), "busy")), RunAnswer::finished);
  EXPECT_EQ(find(id).output, Json::object({{"failed", "busy"}}));
}

TEST_F(RunsTest, AttemptsUsedUpByReportsLeaveOneDeadLetter) {
  const InstanceId id = start();
  RunReport report = failed(lease().at(0), "busy");
  report.failure->message = "no answer";
  EXPECT_EQ(*core().reports().report(report), RunAnswer::will_retry);
  EXPECT_TRUE(store_.list_dead_letters({})->items.empty());
  clock_.advance(Duration::of_seconds(2));
  report.fence = lease().at(0).fence;
  EXPECT_EQ(*core().reports().report(report), RunAnswer::finished);
  EXPECT_EQ(*core().reports().report(report), RunAnswer::lease_lost) << "a repeat";

  RunRequest request;
  request.type = "billing.refund.v1";
  request.payload = Json::object({{"sum", 5}});
  request.attempts_max = 1;
  ASSERT_TRUE(core().runs().submit(request));
  // A worker over HTTP: the node keeps no payloads of its leases.
  const std::vector<RunRow> leased = lease();
  ASSERT_EQ(leased.size(), 1u);
  core().leasing().leased().remember(leased);
  const RunRow& alone = leased[0];
  std::vector<RunReport> several{failed(alone, "down")};
  EXPECT_EQ(*core().reports().report_all(several).at(0), RunAnswer::finished);

  const auto letters = store_.list_dead_letters({})->items;
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].instance, id);
  EXPECT_EQ(letters[0].kind, "run");
  EXPECT_EQ(letters[0].reason, "busy: no answer");
  EXPECT_EQ(letters[0].envelope["payload"], Json::object({{"customer", "ada"}}));
  EXPECT_EQ(letters[1].instance, std::nullopt);
  EXPECT_EQ(letters[1].envelope["run"], Json(alone.id.value));
  EXPECT_EQ(letters[1].envelope["payload"], Json::object({{"sum", 5}}));
}

TEST_F(RunsTest, AFailureThatNoRetryCanHelpLeavesNoDeadLetter) {
  start();
  RunReport report = failed(lease().at(0), "refused");
  report.failure->failure_class = FailureClass::business;
  EXPECT_EQ(*core().reports().report(report), RunAnswer::finished);
  start();
  report = failed(lease().at(0), "useless");
  report.retry = false;
  EXPECT_EQ(*core().reports().report(report), RunAnswer::finished);
  EXPECT_TRUE(store_.list_dead_letters({})->items.empty());
}

TEST_F(RunsTest, ALostLeaseIsToldOnce) {
  EventPolicy incidents;
  incidents.incidents = true;
  store_.keep_events(incidents);
  start();
  const RunRow first = lease().at(0);
  clock_.advance(Duration::of_seconds(31));
  const RunRow second = lease().at(0);
  EXPECT_EQ(*core().reports().report({first.id, first.fence, Json("late"), {}, true, {}, "w1"}), RunAnswer::lease_lost);
  EXPECT_EQ(*core().reports().report({first.id, first.fence, Json("late"), {}, true, {}, "w1"}), RunAnswer::lease_lost);
  EXPECT_EQ(*core().reports().report({second.id, second.fence, Json(1), {}, true, {}, "w2"}), RunAnswer::finished);
  EXPECT_EQ(*core().reports().report({second.id, second.fence, Json(1), {}, true, {}, "w2"}), RunAnswer::lease_lost);
  core().stop();  // writes what was submitted
  std::vector<OutboxRow> told;
  const auto rows = store_.list_outbox({}, {});
  ASSERT_TRUE(rows);
  for (const OutboxRow& row : rows->items) {
    if (row.event.type == "cairn.run.lease_lost") told.push_back(row);
  }
  ASSERT_EQ(told.size(), 1u) << "a repeat of the accepted report is no lost lease";
  EXPECT_EQ(told[0].event.data["worker"], Json("w1"));
  EXPECT_EQ(told[0].event.data["type"], Json("billing.charge.v1"));
}

TEST_F(RunsTest, ARepeatedFailureIsNoLostLease) {
  EventPolicy incidents;
  incidents.incidents = true;
  store_.keep_events(incidents);
  start();
  const RunRow run = lease().at(0);
  EXPECT_EQ(*core().reports().report(failed(run, "busy")), RunAnswer::will_retry);
  EXPECT_EQ(*core().reports().report(failed(run, "busy")), RunAnswer::lease_lost);
  RunChange beat;
  beat.kind = RunChange::Kind::heartbeat;
  beat.run = run.id;
  beat.fence = run.fence;
  const auto late = store_.change_run(beat);
  ASSERT_TRUE(late);
  core().reports().incidents().lease_lost(late->row, run.fence, "w");

  RunRequest request;
  request.type = "billing.refund.v1";
  request.attempts_max = 2;
  request.timeout = Duration::of_seconds(5);
  ASSERT_TRUE(core().runs().submit(request));
  const RunRow slow = lease().at(0);
  clock_.advance(Duration::of_seconds(6));
  EXPECT_EQ(core().due().end_exhausted_runs(), 1u);
  EXPECT_EQ(*core().reports().report({slow.id, slow.fence, Json(1), {}, true, {}, "w"}), RunAnswer::lease_lost);
  core().stop();  // writes what was submitted
  std::vector<std::string> told;
  const auto rows = store_.list_outbox({}, {});
  ASSERT_TRUE(rows);
  for (const OutboxRow& row : rows->items) {
    if (row.event.type == "cairn.run.lease_lost") told.emplace_back(row.event.data["run"].as_string());
  }
  EXPECT_EQ(told, std::vector<std::string>{slow.id.value}) << "the engine ended this attempt";
}

TEST_F(RunsTest, ARepeatUnderTheSameKeyGetsTheFirstOutcome) {
  EventPolicy incidents;
  incidents.incidents = true;
  store_.keep_events(incidents);
  const auto under = [&](const char* key, const RunReport& report, bool batch) {
    const RequestKey::Scope scope(key);
    if (!batch) return core().reports().report(report);
    std::vector<RunReport> several(40, report);  // enough for the direct way of a store that has one
    return core().reports().report_all(several).back();
  };
  RunRequest alone;
  alone.type = "billing.alone.v1";
  for (const bool batch : {false, true}) {
    for (const bool called : {false, true}) {
      const auto next = [&] {
        if (called) {
          start();
        } else {
          EXPECT_TRUE(core().runs().submit(alone));
        }
        const RunRow run = lease(1).at(0);
        core().leasing().leased().remember({&run, 1});
        return run;
      };
      for (const bool fails : {false, true}) {
        const RunRow run = next();
        const RunReport report = fails ? failed(run, "busy") : RunReport{run.id, run.fence, Json(1), {}, true, {}, "w"};
        const auto outcome = fails ? RunAnswer::will_retry : RunAnswer::finished;
        const auto first = under("k", report, false);
        ASSERT_TRUE(first) << first.error().message;
        EXPECT_EQ(*first, outcome);
        EXPECT_FALSE(first->repeated);
        // A node that still has the row as it was leased.
        for (const bool remembered : {false, true}) {
          if (remembered) core().leasing().leased().remember({&run, 1});
          const auto again = under("k", report, batch);
          ASSERT_TRUE(again) << again.error().message;
          EXPECT_EQ(*again, outcome) << batch << called << fails << remembered;
          EXPECT_TRUE(again->repeated);
        }
        // Another worker may have the run by now.
        clock_.advance(Duration::of_seconds(2));
        EXPECT_EQ(lease().size(), fails ? 1u : 0u);
        EXPECT_EQ(*under("k", report, batch), outcome);
        RunReport other = report;
        other.result = Json("other");
        EXPECT_EQ(*under("k", other, batch), RunAnswer::lease_lost) << "another report under the same key";
        if (fails) continue;
        EXPECT_EQ(*under("other", report, batch), RunAnswer::lease_lost);
        EXPECT_EQ(*core().reports().report(report), RunAnswer::lease_lost);
      }
      clock_.advance(Duration::of_seconds(60));
      for (const RunRow& run : lease()) EXPECT_TRUE(core().runs().cancel(run.id, {}));
    }
  }
}

TEST_F(RunsTest, ARepeatUnderTheSameKeyIsNoIncident) {
  EventPolicy incidents;
  incidents.incidents = true;
  store_.keep_events(incidents);
  start();
  RunReport report = failed(lease().at(0), "busy");
  const RequestKey::Scope scope("k");
  EXPECT_EQ(*core().reports().report(report), RunAnswer::will_retry);
  clock_.advance(Duration::of_seconds(2));
  const RunRow second = lease().at(0);
  EXPECT_EQ(*core().reports().report(report), RunAnswer::will_retry) << "another lease has begun";
  report.fence = second.fence;
  EXPECT_EQ(*core().reports().report(report), RunAnswer::finished);
  EXPECT_EQ(*core().reports().report(report), RunAnswer::finished);
  core().stop();  // writes what was submitted
  EXPECT_EQ(store_.list_dead_letters({})->items.size(), 1u);
  std::vector<std::string> told;
  const auto rows = store_.list_outbox({}, {});
  ASSERT_TRUE(rows);
  for (const OutboxRow& row : rows->items) told.push_back(row.event.type);
  EXPECT_EQ(std::count(told.begin(), told.end(), "cairn.run.lease_lost"), 0);
  EXPECT_EQ(std::count(told.begin(), told.end(), "cairn.run.exhausted"), 1);
}

TEST_F(RunsTest, AFailureThatCannotBeKeptLosesOnlyItsDetails) {
  start();
  RunReport report = failed(lease().at(0), "busy");
  report.failure->message = std::string("a\0b\xff", 4);
  report.failure->details = Json(std::string("\0", 1));
  EXPECT_EQ(*core().reports().report(report), RunAnswer::will_retry);
  const RunRow run = (*store_.find_run(report.run)).value();
  EXPECT_EQ(run.error["code"], Json("busy"));
  EXPECT_EQ(run.error["message"], Json("a\xEF\xBF\xBD"
                                       "b\xEF\xBF\xBD"));
  EXPECT_TRUE(run.error["details"].is_null());
}

TEST_F(RunsTest, ReportsOfManyAreAnsweredEach) {
  std::vector<InstanceId> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(start());
  std::vector<RunReport> reports;
  for (const RunRow& run : lease()) reports.push_back({run.id, run.fence, Json(1), {}, true, {}, "w"});
  reports[2].fence += 1;
  reports.push_back({{"00000000-0000-0000-0000-000000000000"}, 1, Json(), {}, true, {}, "w"});
  const auto answers = core().reports().report_all(reports);
  ASSERT_EQ(answers.size(), 6u);
  EXPECT_EQ(*answers[0], RunAnswer::finished);
  EXPECT_EQ(*answers[2], RunAnswer::lease_lost);
  EXPECT_FALSE(answers[5]);
  int completed = 0;
  for (const InstanceId& id : ids) completed += find(id).status == Status::completed ? 1 : 0;
  EXPECT_EQ(completed, 4);
}

TEST_F(RunsTest, CancellingARunTellsItsInstanceInTheSameCommit) {
  const InstanceId id = start();
  const RunRow run = lease().at(0);
  const auto cancelled = core().runs().cancel(run.id, {});
  ASSERT_TRUE(cancelled) << cancelled.error().message;
  EXPECT_EQ(cancelled->status, RunStatus::cancelled);
  EXPECT_EQ(find(id).output, Json::object({{"failed", "cancelled"}}));
  EXPECT_EQ(*core().reports().report({run.id, run.fence, Json("late"), {}, true, {}, "w"}), RunAnswer::lease_lost);
  EXPECT_EQ(core().runs().cancel(run.id, {}).error().code, ErrorCode::conflict);
}

TEST_F(RunsTest, WorkersThatDieAreCountedAndThenGivenUp) {
  const InstanceId id = start();
  for (int attempt = 1; attempt <= 2; ++attempt) {
    ASSERT_EQ(lease().size(), 1u);
    clock_.advance(Duration::of_seconds(30));
  }
  EXPECT_TRUE(lease().empty());
  core().due().run_until_idle();
  EXPECT_EQ(find(id).output, Json::object({{"failed", "lease_expired"}}));
  EXPECT_EQ(store_.list_dead_letters({})->items.size(), 1u);
}

TEST_F(RunsTest, ARunThatAnInstanceWaitsForIsNotDeleted) {
  const InstanceId id = start();
  RunFilter filter;
  filter.instance = id;
  const RunRow run = store_.list_runs(filter, {})->items.at(0);
  const auto removed = core().runs().remove(run.id, "why not", {});
  EXPECT_EQ(removed.error().code, ErrorCode::conflict);
  EXPECT_NE(removed.error().message.find(id.value), std::string::npos) << removed.error().message;
  ASSERT_TRUE(core().runs().cancel(run.id, {}));
  EXPECT_TRUE(core().runs().remove(run.id, "it is over", {}));
  EXPECT_EQ(core().runs().remove({"nobody"}, "no", {}).error().code, ErrorCode::not_found);
}

TEST_F(RunsTest, LengthsThatNoCalendarHoldsAreRefused) {
  RunRequest request;
  request.type = "t";
  request.timeout = Duration::of_seconds(3'600'000ll * 86'400);
  EXPECT_EQ(core().runs().submit(request).error().code, ErrorCode::invalid);
  RunTypeRow rule;
  rule.type = "t";
  for (const Duration lease :
       {Duration::of_seconds(3'600'000ll * 86'400), Duration::of_ms(1), Duration::of_ms(-5000)}) {
    rule.lease = lease;
    EXPECT_EQ(core().leasing().types().put(rule).error().code, ErrorCode::invalid);
  }
  rule.lease = Duration::of_seconds(60);
  EXPECT_TRUE(core().leasing().types().put(rule));
  // A definition is refused too, but an expression may compute any length.
  const auto with_timeout = [](const std::string& timeout) {
    return load_definition(
               "cairn: 1\nname: patient\nversion: 1.0.0\nsteps:\n"
               "  - call: { worker: { type: billing.wait.v1, payload: {} }, timeout: " +
                   timeout + " }\n",
               "test.yaml")
        .program;
  };
  EXPECT_EQ(with_timeout("P3600000D"), nullptr);
  ASSERT_TRUE(core().registry().deploy(with_timeout("= input.length")));
  StartRequest start;
  start.definition = "patient";
  start.input = Json::object({{"length", "P3600000D"}});
  ASSERT_TRUE(core().instances().start(start));
  ASSERT_EQ(lease().size(), 1u);
  EXPECT_TRUE(core().due().next_due()) << "its end can be written down";
}

// Rows of run types that cannot be read once.
class FailingTypes final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<RunTypeRow>> list_run_types() override {
    if (failures-- > 0) return Error{ErrorCode::unavailable, "not now"};
    return ForwardingStore::list_run_types();
  }
  int failures = 1;
};

TEST_F(RunsTest, LimitsHoldAlsoAfterAReadingThatFailed) {
  RunTypeRow rule;
  rule.type = "t";
  rule.concurrency = 1;
  rule.limit_key = "payload";
  MemoryStore memory(clock_);
  ASSERT_TRUE(memory.put_run_type(rule));
  FailingTypes store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  RunRequest request;
  request.type = "t";
  request.payload = Json("ada");
  EXPECT_EQ(core->runs().submit(request).error().code, ErrorCode::unavailable);
  EXPECT_EQ(core->runs().submit(request)->first.limit_key, "ada");
  store.failures = 1;
  clock_.advance(Duration::of_seconds(60));
  EXPECT_EQ(core->runs().submit(request)->first.limit_key, "ada") << "what was known before";
}

// Instances that cannot be decided about: their runs cannot be ended now.
class UnreadableStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::optional<RunRow>> find_run(const RunId& id) override {
    if (id.value.starts_with("broken")) return Error{ErrorCode::unavailable, "not now"};
    return ForwardingStore::find_run(id);
  }
};

TEST_F(RunsTest, RunsThatCannotBeEndedDoNotStarveTheOthers) {
  MemoryStore memory(clock_);
  UnreadableStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  for (int i = 0; i <= 150; ++i) {
    RunRow run;
    run.id = {i < 150 ? "broken" + std::to_string(i) : "sound"};
    run.type = "t";
    run.attempts_max = 1;
    run.run_at = clock_.now();
    ASSERT_TRUE(memory.submit_run(run));
  }
  ASSERT_EQ(memory.lease_runs({"w", {}, {"t"}, 1000, Duration::of_seconds(30)})->size(), 151u);
  clock_.advance(Duration::of_seconds(60));
  core->due().run_until_idle();
  EXPECT_EQ(memory.find_run({"sound"})->value().status, RunStatus::failed);
}

TEST_F(RunsTest, TheKeyOfATypesLimitIsReadFromThePayload) {
  RunTypeRow rule;
  rule.type = "billing.charge.v1";
  rule.concurrency = 1;
  rule.limit_key = "payload.customer";
  ASSERT_TRUE(core().leasing().types().put(rule));
  for (const char* customer : {"ada", "ada", "bob"}) start(customer);
  std::vector<std::string> keys;
  for (const RunRow& run : lease()) keys.push_back(run.limit_key);
  EXPECT_EQ(keys, (std::vector<std::string>{"ada", "bob"}));
  RunRequest odd;
  odd.type = rule.type;
  odd.payload = Json(7);
  EXPECT_EQ(core().runs().submit(odd)->first.limit_key.front(), '!');
  rule.limit_key = "payload +";
  EXPECT_EQ(core().leasing().types().put(rule).error().code, ErrorCode::invalid);
}

TEST_F(RunsTest, AKnownKeyGivesTheFirstRunOrIsRefused) {
  RunRequest request;
  request.type = "t";
  request.payload = Json(1);
  request.idempotency_key = "k";
  const auto first = core().runs().submit(request);
  ASSERT_TRUE(first && first->second);
  const auto again = core().runs().submit(request);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->second);
  EXPECT_EQ(again->first.id, first->first.id);
  request.payload = Json(2);
  EXPECT_EQ(core().runs().submit(request).error().code, ErrorCode::conflict);
}

TEST_F(RunsTest, WhatCannotBeKeptIsRefusedAtTheDoor) {
  RunRequest request;
  EXPECT_EQ(core().runs().submit(request).error().code, ErrorCode::invalid);  // no type
  request.type = "t";
  request.id = "not a uuid";
  EXPECT_EQ(core().runs().submit(request).error().code, ErrorCode::invalid);
  request.id.clear();
  request.payload = Json(std::string("a\0b", 3));
  EXPECT_EQ(core().runs().submit(request).error().code, ErrorCode::invalid);
  request.payload = Json();
  request.attempts_max = 0;
  EXPECT_EQ(core().runs().submit(request).error().code, ErrorCode::invalid);
}

TEST_F(RunsTest, ASubmittedRunGoesOnWithItsCallersTrace) {
  RunRequest request;
  request.type = "billing.refund.v1";
  request.payload = Json::object({{"customer", "ada"}});
  request.idempotency_key = "k";
  request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  RunTypeRow rule;
  rule.type = request.type;
  rule.limit_key = "size(payload) == 1 ? payload.customer : 'odd'";
  ASSERT_TRUE(core().leasing().types().put(rule).has_value());
  const auto first = core().runs().submit(request);
  ASSERT_TRUE(first.has_value());
  request.traceparent = "00-11111111111111111111111111111111-b7ad6b7169203331-01";
  const auto again = core().runs().submit(request);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_FALSE(again->second);
  EXPECT_EQ(again->first.id, first->first.id);
  const RunRow run = lease().at(0);
  EXPECT_EQ(run.limit_key, "ada");
  const Carried carried = without_trace(run.payload);
  EXPECT_EQ(carried.value, request.payload);
  EXPECT_EQ(carried.traceparent, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}

}  // namespace
}  // namespace cairn
