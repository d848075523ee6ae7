#include <array>

#include "sample.h"
#include "store_under_test.h"

namespace cairn {

constexpr Duration outbox_hold = Duration::of_seconds(30);

namespace {

std::string types(const std::vector<OutboxRow>& rows) {
  std::string text;
  for (const OutboxRow& row : rows) text += row.event.type + " ";
  return text;
}
std::string ids(const std::vector<OutboxRow>& rows) {
  std::string text;
  for (const OutboxRow& row : rows) text += row.event.id.value + " ";
  return text;
}
SinkResult taken(const OutboxRow& row) {
  return {row.sequence, SinkResult::Kind::taken, row.attempts + 1, sample::start_of_time};
}
SinkResult untried(const OutboxRow& row) {
  SinkResult event;
  event.sequence = row.sequence;
  return event;
}

SinkResult failed(const OutboxRow& row, Duration delay) {
  return {row.sequence, SinkResult::Kind::failed, row.attempts + 1, sample::start_of_time, "503", delay};
}

}  // namespace

CAIRN_CONTRACT(OutboxLog);

TEST_P(OutboxLog, AListIsInOrderAndHasPages) {
  Advance advance = sample::begin("a");
  for (int i = 0; i < 5; ++i) advance.outbox.push_back(sample::event("e" + std::to_string(i), "s"));
  commit(advance);
  const auto first = must(store().list_outbox({}, {3, ""}));
  EXPECT_EQ(ids(first.items), "e0 e1 e2 ");
  EXPECT_EQ(first.items[0].instance.value, "a");
  EXPECT_EQ(first.items[0].event, advance.outbox[0]);
  EXPECT_EQ(first.items[0].created_at, sample::start_of_time);
  const auto rest = must(store().list_outbox({}, {3, first.next_cursor}));
  EXPECT_EQ(ids(rest.items), "e3 e4 ");
  EXPECT_TRUE(rest.next_cursor.empty());
  OutboxFilter after;
  after.after = first.items[1].sequence;
  EXPECT_EQ(ids(must(store().list_outbox(after, {})).items), "e2 e3 e4 ");
  EXPECT_EQ(store().list_outbox({}, {10, "x"}).error().code, ErrorCode::invalid);
}

TEST_P(OutboxLog, IsFiltered) {
  Advance one = sample::begin("a");
  one.outbox = {sample::event("e1", "s"), sample::event("e2", "t")};
  one.outbox[1].type = "other.thing";
  commit(one);
  Advance two = sample::begin("b");
  two.outbox = {sample::event("e3", "s")};
  commit(two);
  const auto claimed = claim_events(1, outbox_hold);
  publish_event(claimed.at(0));
  const auto found = [&](const OutboxFilter& filter) { return ids(must(store().list_outbox(filter, {})).items); };
  OutboxFilter filter;
  filter.type_prefix = "other.";
  EXPECT_EQ(found(filter), "e2 ");
  filter = {};
  filter.subject = "s";
  EXPECT_EQ(found(filter), "e1 e3 ");
  filter = {};
  filter.instance = InstanceId{"b"};
  EXPECT_EQ(found(filter), "e3 ");
  filter = {};
  filter.unpublished = true;
  EXPECT_EQ(found(filter), "e2 e3 ");
  filter.instance = InstanceId{"a"};
  EXPECT_EQ(found(filter), "e2 ");
}

TEST_P(OutboxLog, APostponedEventHoldsBackItsSubject) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "s"), sample::event("e3", "t")};
  commit(advance);
  const auto claimed = claim_events(10, outbox_hold);
  ASSERT_EQ(ids(claimed), "e1 e2 e3 ");
  must(store().record_sink_results(
      sink_.name, std::array{failed(claimed[0], Duration::of_seconds(60)), untried(claimed[1]), untried(claimed[2])}));
  EXPECT_EQ(ids(claim_events(10, outbox_hold)), "e3 ");
  clock_.advance(Duration::of_seconds(59));
  EXPECT_EQ(ids(claim_events(10, outbox_hold)), "e3 ") << "its hold is over, the other's delay is not";
  EXPECT_EQ(must(store().next_due()), Timestamp::of_unix_ms(sample::start_of_time.unix_ms() + 60'000));
  clock_.advance(Duration::of_seconds(1));
  EXPECT_EQ(ids(claim_events(10, outbox_hold)), "e1 e2 ");
}

TEST_P(OutboxLog, SeveralArePutOffAtOnce) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "t"), sample::event("e3", "u")};
  commit(advance);
  const auto claimed = claim_events(3, Duration::of_seconds(1));
  ASSERT_EQ(ids(claimed), "e1 e2 e3 ");
  must(store().record_sink_results(sink_.name, std::array{failed(claimed[0], Duration::of_seconds(60)),
                                                          failed(claimed[2], Duration::of_seconds(60))}));
  clock_.advance(Duration::of_seconds(59));
  EXPECT_EQ(ids(claim_events(10, outbox_hold)), "e2 ");
  clock_.advance(Duration::of_seconds(1));
  EXPECT_EQ(ids(claim_events(10, Duration::of_seconds(1))), "e1 e3 ");
}

TEST_P(OutboxLog, DeliveriesAreKeptInOrder) {
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s")};
  commit(advance);
  const OutboxRow first = claim_events(1, outbox_hold).at(0);
  EXPECT_EQ(first.attempts, 0);
  EXPECT_EQ(must(store().record_sink_results(sink_.name, std::array{failed(first, Duration())})), 0u);
  const OutboxRow second = claim_events(1, outbox_hold).at(0);
  EXPECT_EQ(second.attempts, 1);
  EXPECT_EQ(must(store().record_sink_results(
                sink_.name, std::array{taken(second), SinkResult{second.sequence + 1000, SinkResult::Kind::taken, 1,
                                                                 sample::start_of_time}})),
            1u);
  const std::vector<SinkDelivery> tried{{first.sequence, "web", 1, sample::start_of_time, false, "503"},
                                        {first.sequence, "web", 2, sample::start_of_time, true, ""}};
  EXPECT_EQ(must(store().list_deliveries(first.sequence)), tried);
  EXPECT_TRUE(must(store().list_deliveries(first.sequence + 1000)).empty()) << "there is no such event";
}

// Each sink has its own queue: a sink that fails or does not answer does not delay the others.
TEST_P(OutboxLog, NoSinkWaitsForAnother) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "s"), sample::event("e3", "t")};
  advance.outbox[2].type = "other.thing";
  commit(advance);
  const std::array sinks{SinkFilter{"one"}, SinkFilter{"two"}, SinkFilter{"some", {"other."}}};
  const auto claim = [&](const char* sink) { return must(store().claim_outbox(sinks, {sink, 10, outbox_hold})); };
  const auto hanging = claim("one");
  EXPECT_EQ(ids(hanging), "e1 e2 e3 ");
  const auto second = claim("two");
  EXPECT_EQ(ids(second), "e1 e2 e3 ");
  EXPECT_EQ(ids(claim("some")), "e3 ");
  std::vector<SinkResult> all;
  for (const OutboxRow& row : second) all.push_back(taken(row));
  EXPECT_EQ(must(store().record_sink_results("two", all)), 0u) << "another sink has to take them";
  EXPECT_EQ(ids(claim("two")), "");
  Advance later = sample::begin("b");
  later.outbox = {sample::event("e4", "s")};
  commit(later);
  EXPECT_EQ(ids(claim("two")), "e4 ");
  EXPECT_EQ(ids(claim("one")), "") << "e1 of the same subject is on its way";
  EXPECT_EQ(must(store().record_sink_results("one", std::array{taken(hanging[0]), failed(hanging[1], Duration())})),
            1u);
  EXPECT_EQ(ids(claim("one")), "e2 e4 ");
}

TEST_P(OutboxLog, ManyEventsForOthersDelayNoSink) {
  Advance advance = sample::begin("a");
  for (int i = 0; i < 600; ++i) advance.outbox.push_back(sample::event("e" + std::to_string(i), "s"));
  advance.outbox.back().type = "other.thing";
  commit(advance);
  const SinkFilter picky{"web", {"other."}};
  EXPECT_EQ(ids(must(store().claim_outbox({&picky, 1}, {"web", 10, outbox_hold}))), "e599 ");
}

TEST_P(OutboxLog, QueuesAreListed) {
  EXPECT_TRUE(must(store().list_sink_queues()).empty());
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "s")};
  commit(advance);
  const std::array sinks{SinkFilter{"two"}, SinkFilter{"one"}, SinkFilter{"none", {"other."}}};
  must(store().claim_outbox(sinks, {"one", 10, outbox_hold}));
  EXPECT_EQ(must(store().list_sink_queues()), (std::vector<std::string>{"one", "two"}));
}

TEST_P(OutboxLog, WhatNoSinkWantsIsPublished) {
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s")};
  commit(advance);
  const SinkFilter picky{"web", {"other."}};
  EXPECT_TRUE(must(store().claim_outbox({&picky, 1}, {"web", 10, outbox_hold})).empty());
  EXPECT_TRUE(must(store().list_outbox({}, {})).items.at(0).published_at);
}

TEST_P(OutboxLog, RetriesDoNotCrowdOutNewEvents) {
  Advance advance = sample::begin("a");
  for (int i = 0; i < 20; ++i) advance.outbox.push_back(sample::event("old" + std::to_string(i), std::to_string(i)));
  commit(advance);
  std::vector<SinkResult> all;
  for (const OutboxRow& row : claim_events(20, outbox_hold)) all.push_back(failed(row, Duration()));
  ASSERT_EQ(all.size(), 20u);
  must(store().record_sink_results(sink_.name, all));
  Advance later = sample::begin("b");
  later.outbox = {sample::event("new", "s")};
  commit(later);
  const auto claimed = claim_events(8, outbox_hold);
  ASSERT_EQ(claimed.size(), 3u) << "a quarter of a batch are retries";
  EXPECT_EQ(claimed[2].event.id.value, "new");
}

TEST_P(OutboxLog, AnEventIsSentAgainOnRequest) {
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s")};
  commit(advance);
  const OutboxRow row = claim_events(1, outbox_hold).at(0);
  const std::int64_t sequence = row.sequence;
  publish_event(row);
  EXPECT_TRUE(must(store().list_outbox({}, {})).items.at(0).published_at);
  EXPECT_TRUE(must(store().resend_outbox(sequence)));
  EXPECT_FALSE(must(store().list_outbox({}, {})).items.at(0).published_at);
  EXPECT_EQ(ids(claim_events(10, outbox_hold)), "e1 ");
  const auto log = must(store().list_deliveries(sequence));
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[1].sink, "") << "what was delivered before no longer counts";
  EXPECT_FALSE(must(store().resend_outbox(sequence + 1000)));
}

CAIRN_CONTRACT(LifeCycle);

constexpr EventPolicy everything{true, true, true, true};

TEST_P(LifeCycle, IsNotWrittenUnlessAskedFor) {
  Advance advance = sample::begin("a");
  sample::add_task(advance, "t");
  commit(advance);
  EXPECT_TRUE(must(store().list_outbox({}, {})).items.empty());
}

TEST_P(LifeCycle, OfAnInstanceAndItsTask) {
  keep_events(everything);
  Advance advance = sample::begin("a");
  advance.after.reference.key = Json("R-1");
  advance.outbox = {sample::event("e1", "s")};
  sample::add_task(advance, "t");
  commit(advance);
  Advance last = sample::next(advance.after);
  sample::complete_task(last, "t");
  sample::end(last);
  commit(last);
  const auto rows = must(store().list_outbox({}, {})).items;
  EXPECT_EQ(types(rows),
            "cairn.instance.started sample.happened cairn.task.opened cairn.task.completed cairn.instance.completed ");
  ASSERT_EQ(rows.size(), 5u);
  for (const OutboxRow& row : rows) {
    EXPECT_EQ(row.instance.value, "a");
    EXPECT_EQ(row.event.subject, row.event.type == "sample.happened" ? "s" : "a");
  }
  EXPECT_EQ(rows[0].event.data["reference"], Json("R-1"));
  EXPECT_EQ(rows[2].event.data["name"], Json("Review"));
  EXPECT_EQ(rows[3].event.data["by"], Json("ann"));
  EXPECT_EQ(rows[4].event.data["output"], Json::object({{"done", true}}));
  EXPECT_TRUE(told().outbox);
}

TEST_P(LifeCycle, OfAnAssignment) {
  keep_events({false, true, false, true});
  Advance advance = sample::begin("a");
  sample::add_task(advance, "t");
  commit(advance);
  TaskChange change;
  change.task = {"t"};
  change.assignee = "ann";
  change.actor = "boss";
  must(store().change_task(change));
  must(store().change_task(change));
  change.kind = TaskChange::Kind::release;
  must(store().change_task(change));
  change.kind = TaskChange::Kind::comment;
  change.comment = "hm";
  must(store().change_task(change));
  const auto rows = must(store().list_outbox({}, {})).items;
  EXPECT_EQ(types(rows), "cairn.task.opened cairn.task.assigned cairn.task.released ");
  EXPECT_EQ(rows.at(1).event.data["assignee"], Json("ann"));
}

TEST_P(LifeCycle, OfSuspendingAndResuming) {
  keep_events({true, false, false, true});
  const Advance begun = sample::begin("a");
  commit(begun);
  Advance suspended = sample::next(begun.after);
  suspended.after.status = Status::suspended;
  LogEntry entry;
  entry.kind = LogEntry::Kind::suspended;
  suspended.log = {entry};
  commit(suspended);
  Advance resumed = sample::next(suspended.after);
  resumed.after.status = Status::waiting;
  entry.kind = LogEntry::Kind::resumed;
  resumed.log = {entry};
  commit(resumed);
  Advance failed = sample::next(resumed.after);
  sample::end(failed, Status::failed);
  commit(failed);
  EXPECT_EQ(types(must(store().list_outbox({}, {})).items),
            "cairn.instance.started cairn.instance.suspended cairn.instance.resumed cairn.instance.failed ");
}

TEST_P(LifeCycle, OfRuns) {
  keep_events({false, false, true, true});
  Advance advance = sample::begin("a");
  sample::add_run(advance, "r");
  commit(advance);
  must(store().submit_run(sample::run("alone")));
  must(store().submit_run(sample::run("unwanted")));
  const auto leased = must(store().lease_runs({"w", {}, {}, 10, outbox_hold}));
  ASSERT_EQ(leased.size(), 3u);
  for (const RunRow& run : leased) {
    if (run.id.value == "unwanted") continue;
    Unit unit;
    RunEnd end;
    end.run = run.id;
    end.fence = run.fence;
    if (run.instance) {
      Advance next = sample::next(advance.after);
      sample::close_wait(next, "token-r");
      unit.advances = {next};
    } else {
      end.status = RunStatus::failed;
      end.error = Json::object({{"code", "bad"}});
    }
    unit.run = end;
    EXPECT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
  }
  RunChange cancel;
  cancel.kind = RunChange::Kind::cancel;
  cancel.run = {"unwanted"};
  must(store().change_run(cancel));
  std::map<std::string, std::string> subjects;
  for (const OutboxRow& row : must(store().list_outbox({}, {})).items) subjects[row.event.type] = row.event.subject;
  EXPECT_EQ(subjects,
            (std::map<std::string, std::string>{
                {"cairn.run.succeeded", "a"}, {"cairn.run.failed", "alone"}, {"cairn.run.cancelled", "unwanted"}}));
}

TEST_P(LifeCycle, OfParking) {
  keep_events(everything);
  commit(sample::begin("a"));
  const Failure why{FailureClass::consistency, "snapshot_corrupt", "does not add up", Json(), 1, "", ""};
  must(store().park({"a"}, why, {}, std::nullopt));
  EXPECT_EQ(types(must(store().list_outbox({}, {})).items), "cairn.instance.started cairn.instance.suspended ");
}

TEST_P(LifeCycle, OfIncidents) {
  EventPolicy incidents{false, false, false, true};
  incidents.incidents = true;
  keep_events(incidents);
  const Advance begun = sample::begin("a");
  commit(begun);
  commit(sample::begin("lost"));
  Advance suspended = sample::next(begun.after);
  suspended.after.status = Status::suspended;
  LogEntry entry;
  entry.kind = LogEntry::Kind::suspended;
  suspended.log = {entry};
  commit(suspended);  // by an operator, so it has no error
  Advance resumed = sample::next(suspended.after);
  resumed.after.status = Status::waiting;
  commit(resumed);
  suspended = sample::next(resumed.after);
  suspended.after.status = Status::suspended;
  suspended.after.error = Failure{FailureClass::transport, "busy", "no answer", Json(), 1, "pay", ""};
  suspended.log = {entry};
  Unit unit;
  unit.advances = {suspended};
  DeadLetter letter;
  letter.instance = InstanceId{"a"};
  letter.kind = "run";
  letter.envelope = Json::object({{"run", "r"}, {"type", "card.charge"}, {"payload", Json()}});
  letter.reason = "busy: no answer";
  letter.node = "n";
  unit.dead_letters = {letter};
  unit.incidents = {{{"r/exhausted"}, "cairn.run.exhausted", "a", Json::object({{"run", "r"}, {"instance", "a"}})}};
  EXPECT_EQ(kind_of_commit(unit), CommitOutcome::Kind::done);
  EXPECT_TRUE(told().outbox);
  const Failure missing{FailureClass::consistency, "definition_missing", "no definition x 1", Json(), 1, "", ""};
  letter.instance = InstanceId{"lost"};
  letter.kind = "timer";
  must(store().park({"lost"}, missing, letter, std::nullopt));
  letter.instance.reset();
  must(store().put_dead_letter(letter));
  Advance failed = sample::next(suspended.after);
  sample::end(failed, Status::failed);
  commit(failed);
  Unit alone;
  alone.incidents = {{{"r/lease_lost/1"}, "cairn.run.lease_lost", "r", Json::object({{"run", "r"}})}};
  EXPECT_EQ(kind_of_commit(alone), CommitOutcome::Kind::done);
  const auto rows = must(store().list_outbox({}, {})).items;
  EXPECT_EQ(types(rows),
            "cairn.instance.suspended cairn.run.exhausted cairn.dead_letter.created cairn.definition.unavailable "
            "cairn.instance.suspended cairn.dead_letter.created cairn.dead_letter.created cairn.instance.failed "
            "cairn.run.lease_lost ");
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[1].instance.value, "a");
  EXPECT_EQ(rows[2].event.data["type"], Json("card.charge"));
  EXPECT_EQ(rows[2].event.subject, "a");
  EXPECT_EQ(rows[3].event.subject, "lost");
  std::set<std::string> different;
  for (const OutboxRow& row : rows) different.insert(row.event.id.value);
  EXPECT_EQ(different.size(), rows.size());
}

TEST_P(LifeCycle, WhatNobodyPublishesIsWrittenAsPublished) {
  EventPolicy policy = everything;
  policy.dispatched = false;
  keep_events(policy);
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s")};
  commit(advance);
  EXPECT_EQ(must(store().list_outbox({}, {})).items.size(), 2u);
  EXPECT_EQ(ids(claim_events(10, outbox_hold)), "e1 ") << "what `emit` wrote must still go out";
}

TEST_P(LifeCycle, AStaleCommitWritesNothing) {
  keep_events(everything);
  commit(sample::begin("a"));
  commit(sample::begin("a"));
  EXPECT_EQ(must(store().list_outbox({}, {})).items.size(), 1u);
}

CAIRN_CONTRACT(RowRetentions);

TEST_P(RowRetentions, FinishedRunsWithoutAnInstance) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "owned");
  commit(advance);
  for (const char* id : {"done", "waiting", "fresh"}) {
    RunRow run = sample::run(id);
    run.idempotency_key = std::string("key-") + id;
    must(store().submit_run(run));
  }
  const auto cancel = [&](const char* id) {
    RunChange change;
    change.kind = RunChange::Kind::cancel;
    change.run = {id};
    must(store().change_run(change));
  };
  cancel("done");
  cancel("owned");
  clock_.advance(Duration::of_seconds(60));
  const Timestamp before = clock_.now();
  cancel("fresh");
  RowRetention request;
  request.runs_before = before;
  EXPECT_EQ(must(store().retire_rows(request)).runs, 1u);
  EXPECT_FALSE(must(store().find_run({"done"})).has_value());
  EXPECT_TRUE(must(store().run_events({"done"})).empty());
  for (const char* id : {"owned", "waiting", "fresh"}) EXPECT_TRUE(must(store().find_run({id})).has_value()) << id;
  RunRow again = sample::run("again");
  again.idempotency_key = "key-done";
  EXPECT_TRUE(must(store().submit_run(again)).second) << "the key went with its row";
}

TEST_P(RowRetentions, DeletedRunsInAnyStatus) {
  for (const char* id : {"leased", "pending", "kept"}) must(store().submit_run(sample::run(id)));
  RunChange change;
  change.kind = RunChange::Kind::remove;
  ASSERT_EQ(must(store().lease_runs({"w", {}, {}, 1, Duration::of_seconds(30)})).size(), 1u);
  for (const char* id : {"leased", "pending"}) {
    change.run = {id};
    EXPECT_EQ(must(store().change_run(change)).kind, RunChanged::Kind::done) << id;
  }
  RowRetention request;
  request.deleted_runs_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(request)).deleted_runs, 0u) << "not older yet";
  clock_.advance(Duration::of_seconds(60));
  RowRetention finished;
  finished.runs_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(finished)).removed(), 0u) << "they have not finished";
  request.deleted_runs_before = clock_.now();
  const RowRetentionOutcome outcome = must(store().retire_rows(request));
  EXPECT_EQ(outcome.deleted_runs, 2u);
  EXPECT_EQ(outcome.runs, 0u);
  EXPECT_FALSE(must(store().find_run({"leased"})).has_value());
  EXPECT_TRUE(must(store().find_run({"kept"})).has_value());
  EXPECT_TRUE(must(store().queue_faults(10)).empty());
}

TEST_P(RowRetentions, AFinishedRunThatIsDeletedGoesWithTheFirstPeriodThatIsOver) {
  for (const char* id : {"early", "late"}) {
    must(store().submit_run(sample::run(id)));
    RunChange change;
    change.run = {id};
    change.kind = RunChange::Kind::cancel;
    must(store().change_run(change));
  }
  clock_.advance(Duration::of_seconds(60));
  const Timestamp ended_before = clock_.now();
  RunChange remove;
  remove.kind = RunChange::Kind::remove;
  remove.run = {"early"};
  must(store().change_run(remove));
  clock_.advance(Duration::of_seconds(60));
  RowRetention deleted;
  deleted.deleted_runs_before = ended_before;
  EXPECT_EQ(must(store().retire_rows(deleted)).removed(), 0u) << "it was deleted later";
  deleted.deleted_runs_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(deleted)).deleted_runs, 1u);
  EXPECT_TRUE(must(store().find_run({"late"})).has_value());
  RowRetention finished;
  finished.runs_before = ended_before;
  EXPECT_EQ(must(store().retire_rows(finished)).runs, 1u);
  EXPECT_FALSE(must(store().find_run({"late"})).has_value());
}

TEST_P(RowRetentions, EventsOfRunsGoAndTheRunsStay) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, "owned");
  commit(advance);
  must(store().submit_run(sample::run("alone")));
  ASSERT_FALSE(must(store().run_events({"owned"})).empty());
  clock_.advance(Duration::of_seconds(60));
  RowRetention request;
  request.run_events_before = clock_.now();
  ASSERT_EQ(must(store().lease_runs({"w", {}, {}, 1, Duration::of_seconds(30)})).size(), 1u);
  const RowRetentionOutcome outcome = must(store().retire_rows(request));
  EXPECT_EQ(outcome.run_events, 1u);
  EXPECT_EQ(outcome.runs, 0u);
  std::vector<RunEvent> left = must(store().run_events({"owned"}));
  const std::vector<RunEvent> others = must(store().run_events({"alone"}));
  left.insert(left.end(), others.begin(), others.end());
  ASSERT_EQ(left.size(), 2u) << "those of the run with a young event stay together";
  EXPECT_EQ(left[0].kind, "created");
  EXPECT_EQ(left[1].kind, "leased");
  for (const char* id : {"owned", "alone"}) EXPECT_TRUE(must(store().find_run({id})).has_value()) << id;
  EXPECT_EQ(must(store().lease_runs({"w", {}, {}, 9, Duration::of_seconds(30)})).size(), 1u) << "the other one";
  EXPECT_EQ(must(store().figures(10, 10)).runs_leased, 2u);
}

TEST_P(RowRetentions, EventsOfARunThatBeganLeased) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_run(unit.advances[0], "r");
  unit.lease = RunLease{"w", Duration::of_seconds(30), {"default.echo"}};
  commit(unit);
  ASSERT_EQ(must(store().find_run({"r"}))->status, RunStatus::leased);
  ASSERT_EQ(must(store().run_events({"r"})).size(), 2u);
  clock_.advance(Duration::of_seconds(60));
  RowRetention request;
  request.run_events_before = clock_.now();
  EXPECT_GT(must(store().retire_rows(request)).run_events, 0u);
  EXPECT_TRUE(must(store().run_events({"r"})).empty());
  EXPECT_EQ(must(store().retire_rows(request)).removed(), 0u);
}

TEST_P(RowRetentions, DeadLettersWithoutAnOpenInstance) {
  commit(sample::begin("open"));
  Advance ended = sample::begin("ended");
  sample::end(ended);
  commit(ended);
  DeadLetter letter{0, std::nullopt, "start", Json::object({}), "why", "node-1", {}};
  must(store().put_dead_letter(letter));
  for (const char* id : {"open", "ended", "gone"}) {
    letter.instance = InstanceId{id};
    must(store().put_dead_letter(letter));
  }
  RowRetention request;
  request.dead_letters_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(request)).dead_letters, 0u) << "not older yet";
  clock_.advance(Duration::of_seconds(60));
  letter.instance.reset();
  const std::int64_t young = must(store().put_dead_letter(letter));
  request.dead_letters_before = clock_.now();
  request.max = 2;
  std::size_t gone = 0;
  for (bool more = true; more;) {
    const RowRetentionOutcome outcome = must(store().retire_rows(request));
    EXPECT_LE(outcome.dead_letters, 2u);
    gone += outcome.dead_letters;
    more = outcome.more;
  }
  EXPECT_EQ(gone, 3u);
  const auto left = must(store().list_dead_letters({})).items;
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].instance, InstanceId{"open"}) << "its operator may still need it";
  EXPECT_EQ(left[1].id, young);
}

TEST_P(RowRetentions, PublishedEventsWithTheirDeliveries) {
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "t")};
  commit(advance);
  const auto claimed = claim_events(10, outbox_hold);
  const std::int64_t first = claimed.at(0).sequence;
  publish_event(claimed.at(0));
  RowRetention request;
  request.outbox_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(request)).outbox, 0u) << "not older yet";
  clock_.advance(Duration::of_seconds(3600));
  request.outbox_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(request)).outbox, 1u);
  EXPECT_EQ(ids(must(store().list_outbox({}, {})).items), "e2 ") << "what is not published yet must still go out";
  EXPECT_TRUE(must(store().list_deliveries(first)).empty());
}

TEST_P(RowRetentions, Keys) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  unit.key = IdempotencyKey{"start", "old", "h", Json("a")};
  commit(unit);
  clock_.advance(Duration::of_seconds(60));
  Unit young;
  young.advances = {sample::begin("b")};
  young.key = IdempotencyKey{"start", "young", "h", Json("b")};
  commit(young);
  RowRetention request;
  request.keys_before = clock_.now();
  EXPECT_EQ(must(store().retire_rows(request)).keys, 1u);
  EXPECT_FALSE(must(store().find_key("start", "old")).has_value());
  EXPECT_TRUE(must(store().find_key("start", "young")).has_value());
}

TEST_P(RowRetentions, SmallBatchesAndNothingUnasked) {
  for (int i = 0; i < 5; ++i) {
    Unit unit;
    unit.advances = {sample::begin("i" + std::to_string(i))};
    unit.key = IdempotencyKey{"start", std::to_string(i), "h", Json()};
    commit(unit);
  }
  clock_.advance(Duration::of_seconds(1));
  RowRetention request;
  EXPECT_EQ(must(store().retire_rows(request)).keys, 0u);
  request.keys_before = clock_.now();
  request.max = 2;
  std::size_t gone = 0;
  for (bool more = true; more;) {
    const auto outcome = must(store().retire_rows(request));
    EXPECT_LE(outcome.keys, 2u);
    gone += outcome.keys;
    more = outcome.more;
  }
  EXPECT_EQ(gone, 5u);
  for (const char* id : {"a", "b", "c"}) must(store().submit_run(sample::run(id)));
  clock_.advance(Duration::of_seconds(1));
  RowRetention events;
  events.run_events_before = clock_.now();
  events.max = 2;
  EXPECT_EQ(must(store().retire_rows(events)).run_events, 2u);
  EXPECT_EQ(must(store().retire_rows(events)).run_events, 1u);
}

}  // namespace cairn
