#include "sample.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;
constexpr Duration upkeep_hold = Duration::of_seconds(30);

CAIRN_CONTRACT(Definitions);

DefinitionRow definition(const std::string& name, const std::string& version, const std::string& digest) {
  return {name, version, digest, Json::object({{"name", name}, {"version", version}}), {}, std::nullopt};
}

TEST_P(Definitions, AreStoredOnce) {
  EXPECT_EQ(must(store().put_definition(definition("a", "1.0.0", "x"))), PutDefinition::added);
  EXPECT_EQ(must(store().put_definition(definition("a", "1.0.0", "x"))), PutDefinition::same);
  EXPECT_EQ(must(store().list_definitions({})).items.size(), 1u);
}

TEST_P(Definitions, TheSameVersionWithAnotherDigestIsAConflict) {
  must(store().put_definition(definition("a", "1.0.0", "x")));
  EXPECT_EQ(must(store().put_definition(definition("a", "1.0.0", "y"))), PutDefinition::conflict);
  EXPECT_EQ(must(store().find_definition("a", "1.0.0"))->digest, "x");
}

TEST_P(Definitions, ComeBackAsTheyWereStored) {
  must(store().put_definition(definition("a", "1.0.0", "x")));
  const auto row = must(store().find_definition("a", "1.0.0"));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->canonical, Json::object({{"name", "a"}, {"version", "1.0.0"}}));
  EXPECT_EQ(row->deployed_at, store().now());
  EXPECT_FALSE(row->retired_at);
}

TEST_P(Definitions, WithoutAVersionTheNewestDeployedIsFound) {
  must(store().put_definition(definition("a", "2.0.0", "x")));
  must(store().put_definition(definition("a", "1.9.0", "y")));
  EXPECT_EQ(must(store().find_definition("a", std::nullopt))->version, "1.9.0");
  EXPECT_FALSE(must(store().find_definition("b", std::nullopt)).has_value());
  EXPECT_FALSE(must(store().find_definition("a", "3.0.0")).has_value());
}

TEST_P(Definitions, ARetiredOneIsFoundByVersionOnly) {
  must(store().put_definition(definition("a", "1.0.0", "x")));
  must(store().put_definition(definition("a", "2.0.0", "y")));
  EXPECT_TRUE(must(store().retire_definition("a", "2.0.0")));
  EXPECT_FALSE(must(store().retire_definition("a", "9.0.0")));
  EXPECT_EQ(must(store().find_definition("a", std::nullopt))->version, "1.0.0");
  EXPECT_TRUE(must(store().find_definition("a", "2.0.0"))->retired_at);
}

TEST_P(Definitions, HavePages) {
  for (int i = 0; i < 5; ++i) must(store().put_definition(definition("d" + std::to_string(i), "1.0.0", "x")));
  const auto first = must(store().list_definitions({3, ""}));
  EXPECT_EQ(first.items.size(), 3u);
  const auto second = must(store().list_definitions({3, first.next_cursor}));
  ASSERT_EQ(second.items.size(), 2u);
  EXPECT_EQ(second.items[0].name, "d3");
  EXPECT_TRUE(second.next_cursor.empty());
}

CAIRN_CONTRACT(Lists);

TEST_P(Lists, InstancesNewestFirst) {
  for (const char* id : {"a", "b", "c"}) commit(sample::begin(id));
  const auto page = must(store().list_instances({}, {2, ""}));
  ASSERT_EQ(page.items.size(), 2u);
  EXPECT_EQ(page.items[0].id.value, "c");
  const auto rest = must(store().list_instances({}, {2, page.next_cursor}));
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].id.value, "a");
  EXPECT_TRUE(rest.next_cursor.empty());
}

TEST_P(Lists, InstancesByFilter) {
  Advance one = sample::begin("one");
  one.after.reference.key = Json("R-1");
  commit(one);
  Advance two = sample::begin("two");
  two.after.parent = Parent{{"one"}, {"t"}};
  two.after.program.name = "other";
  two.after.started_at = Timestamp::of_unix_ms(1'700'000'005'000);
  commit(two);
  Advance three = sample::begin("three");
  sample::end(three);
  commit(three);
  const auto ids = [&](const InstanceFilter& filter) {
    std::string list;
    for (const InstanceRow& row : must(store().list_instances(filter, {})).items) list += row.id.value + " ";
    return list;
  };
  InstanceFilter filter;
  filter.status = Status::completed;
  EXPECT_EQ(ids(filter), "three ");
  filter = {};
  filter.definition = "other";
  EXPECT_EQ(ids(filter), "two ");
  filter = {};
  filter.reference_key = "R-1";
  EXPECT_EQ(ids(filter), "one ");
  filter = {};
  filter.parent = InstanceId{"one"};
  EXPECT_EQ(ids(filter), "two ");
  filter = {};
  filter.started_from = Timestamp::of_unix_ms(1'700'000'005'000);
  EXPECT_EQ(ids(filter), "two ");
  filter = {};
  filter.started_to = Timestamp::of_unix_ms(1'700'000'005'000);
  EXPECT_EQ(ids(filter), "three one ");
}

TEST_P(Lists, AForeignCursorIsRefused) {
  EXPECT_EQ(store().list_instances({}, {10, "x;drop"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store().list_runs({}, {10, "x"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store().list_tasks({}, {10, "x"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store().history({"a"}, {10, "1e"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store().list_dead_letters({10, "-"}).error().code, ErrorCode::invalid);
  EXPECT_EQ(store().list_definitions({10, "-"}).error().code, ErrorCode::invalid);
}

TEST_P(Lists, TextIsNeverTakenForSql) {
  const std::string nasty = "x'; DROP TABLE wf_instances; --";
  Advance advance = sample::begin(nasty);
  advance.after.reference.key = Json(nasty);
  commit(advance);
  InstanceFilter filter;
  filter.reference_key = nasty;
  EXPECT_EQ(must(store().list_instances(filter, {})).items.at(0).id.value, nasty);
}

TEST_P(Lists, ADeletedInstanceIsHiddenButThere) {
  Advance advance = sample::begin("a");
  sample::end(advance);
  commit(advance);
  EXPECT_TRUE(must(store().mark_deleted({"a"}, "test data")));
  EXPECT_TRUE(must(store().list_instances({}, {})).items.empty());
  InstanceFilter all;
  all.deleted = true;
  EXPECT_EQ(must(store().list_instances(all, {})).items.at(0).delete_reason, "test data");
  EXPECT_TRUE(must(store().find_snapshot({"a"})).has_value());
}

TEST_P(Lists, ALiveInstanceIsNotDeleted) {
  commit(sample::begin("a"));
  EXPECT_FALSE(must(store().mark_deleted({"a"}, "x")));
  EXPECT_FALSE(must(store().mark_deleted({"nobody"}, "x")));
  EXPECT_EQ(must(store().list_instances({}, {})).items.size(), 1u);
}

CAIRN_CONTRACT(Outbox);

TEST_P(Outbox, EventsAreWrittenWithTheirCause) {
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "s")};
  commit(advance);
  const auto rows = claim_events(10, upkeep_hold);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].event, advance.outbox[0]);
  EXPECT_EQ(rows[1].event, advance.outbox[1]);
  EXPECT_EQ(rows[0].instance.value, "a");
  EXPECT_TRUE(told().outbox);
}

TEST_P(Outbox, AStaleCommitSendsNothing) {
  commit(sample::begin("a"));
  Advance stale = sample::begin("a");
  stale.outbox = {sample::event("e", "s")};
  commit(stale);
  EXPECT_TRUE(claim_events(10, upkeep_hold).empty());
}

TEST_P(Outbox, WhatIsPublishedIsNotClaimedAgain) {
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "t")};
  commit(advance);
  const auto rows = claim_events(10, upkeep_hold);
  publish_event(rows.at(0));
  clock_.advance(upkeep_hold);
  const auto rest = claim_events(10, upkeep_hold);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].event.id.value, "e2");
}

TEST_P(Outbox, WhileAnEarlierOneIsOnItsWayTheSubjectWaits) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  Advance advance = sample::begin("a");
  advance.outbox = {sample::event("e1", "s"), sample::event("e2", "s"), sample::event("e3", "t")};
  commit(advance);
  EXPECT_EQ(claim_events(1, upkeep_hold).at(0).event.id.value, "e1");
  const auto other = claim_events(10, upkeep_hold);
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(other[0].event.id.value, "e3");
  clock_.advance(upkeep_hold);
  EXPECT_EQ(claim_events(10, upkeep_hold).at(0).event.id.value, "e1");
}

CAIRN_CONTRACT(DeadLetters);

DeadLetter letter(const std::string& instance) {
  return {0,
          InstanceId{instance},
          "message",
          Json::object({{"kind", "cancel"}, {"body", Json::object({{"reason", "r"}})}}),
          "cannot decode",
          "node-1",
          {}};
}

TEST_P(DeadLetters, KeepEnvelopeReasonNodeAndTime) {
  const std::int64_t id = must(store().put_dead_letter(letter("a")));
  const auto letters = must(store().list_dead_letters({})).items;
  ASSERT_EQ(letters.size(), 1u);
  DeadLetter expected = letter("a");
  expected.id = id;
  expected.at = store().now();
  EXPECT_EQ(letters[0], expected);
}

TEST_P(DeadLetters, AreReplayedToTheirQueue) {
  commit(sample::begin("a"));
  const std::int64_t id = must(store().put_dead_letter(letter("a")));
  EXPECT_TRUE(must(store().replay_dead_letter(id)));
  EXPECT_TRUE(must(store().list_dead_letters({})).items.empty());
  const auto messages = must(store().list_messages({"a"}));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].kind, Message::Kind::cancel);
  EXPECT_EQ(messages[0].body, Json::object({{"reason", "r"}}));
  EXPECT_FALSE(must(store().replay_dead_letter(id)));
}

TEST_P(DeadLetters, ATimerIsReplayedToo) {
  Advance advance = sample::begin("a");
  sample::add_timer(advance, "tick", sample::start_of_time);
  commit(advance);
  Unit unit;
  unit.timer = must(store().take_timers(1, upkeep_hold)).at(0);
  commit(unit);
  EXPECT_TRUE(must(store().list_timers({"a"})).empty());
  DeadLetter timer = letter("a");
  timer.kind = "timer";
  timer.envelope = Json::object({{"token", "tick"}, {"due", format_timestamp(unit.timer->due)}});
  const std::int64_t id = must(store().put_dead_letter(timer));
  EXPECT_TRUE(must(store().replay_dead_letter(id)));
  EXPECT_EQ(must(store().take_timers(1, upkeep_hold)), std::vector{*unit.timer});
}

TEST_P(DeadLetters, WhatCannotBeReplayedStays) {
  DeadLetter start = letter("a");
  start.kind = "start";
  const std::int64_t id = must(store().put_dead_letter(start));
  EXPECT_EQ(store().replay_dead_letter(id).error().code, ErrorCode::unsupported);
  EXPECT_EQ(must(store().list_dead_letters({})).items.size(), 1u);
}

TEST_P(DeadLetters, AReplayToAnInstanceThatIsGoneBecomesALetterAgain) {
  const std::int64_t id = must(store().put_dead_letter(letter("gone")));
  EXPECT_TRUE(must(store().replay_dead_letter(id)));
  EXPECT_EQ(must(store().list_dead_letters({})).items.size(), 1u);
}

TEST_P(DeadLetters, AreDiscarded) {
  const std::int64_t id = must(store().put_dead_letter(letter("a")));
  EXPECT_TRUE(must(store().discard_dead_letter(id)));
  EXPECT_FALSE(must(store().discard_dead_letter(id)));
  EXPECT_TRUE(must(store().list_dead_letters({})).items.empty());
}

TEST_P(DeadLetters, ParkingSuspendsForPeopleAndKeepsTheSnapshot) {
  const Advance advance = sample::begin("a");
  commit(advance);
  Unit unit;
  unit.messages = {Message{0, {"a"}, Message::Kind::cancel, Json::object(), {}}};
  commit(unit);
  const std::int64_t message = must(store().list_messages({"a"})).at(0).id;
  const Failure why{FailureClass::consistency, "snapshot_corrupt", "does not add up", Json(), 1, "", ""};
  must(store().park({"a"}, why, letter("a"), message));
  const auto row = must(store().find_instance({"a"}));
  EXPECT_EQ(row->status, Status::suspended);
  EXPECT_EQ(row->error, why);
  EXPECT_EQ(must(store().find_snapshot({"a"})), advance.after);
  EXPECT_TRUE(must(store().list_messages({"a"})).empty());
  EXPECT_EQ(must(store().list_dead_letters({})).items.size(), 1u);
}

TEST_P(DeadLetters, AUnitMayWriteOne) {
  Unit unit;
  unit.dead_letters = {letter("a")};
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  EXPECT_EQ(must(store().list_dead_letters({})).items.size(), 1u);
}

CAIRN_CONTRACT(Locks);

TEST_P(Locks, OneOwnerAtATime) {
  const auto mine = must(store().hold_lock("retention", "a", upkeep_hold));
  ASSERT_TRUE(mine);
  EXPECT_FALSE(must(store().hold_lock("retention", "b", upkeep_hold)).has_value());
  EXPECT_TRUE(must(store().hold_lock("other", "b", upkeep_hold)).has_value());
}

TEST_P(Locks, TheHolderExtendsItsOwn) {
  const auto first = must(store().hold_lock("l", "a", upkeep_hold));
  clock_.advance(Duration::of_seconds(20));
  const auto second = must(store().hold_lock("l", "a", upkeep_hold));
  ASSERT_TRUE(second);
  EXPECT_EQ(second->fence, first->fence);
  EXPECT_GT(second->until, first->until);
}

TEST_P(Locks, AnEndedOneIsTakenWithAHigherFence) {
  const auto first = must(store().hold_lock("l", "a", upkeep_hold));
  clock_.advance(upkeep_hold);
  const auto second = must(store().hold_lock("l", "b", upkeep_hold));
  ASSERT_TRUE(second);
  EXPECT_GT(second->fence, first->fence);
}

TEST_P(Locks, ADroppedOneIsFree) {
  const auto first = must(store().hold_lock("l", "a", upkeep_hold));
  must(store().drop_lock(*first));
  EXPECT_TRUE(must(store().hold_lock("l", "b", upkeep_hold)).has_value());
}

TEST_P(Locks, ALostOneCannotBeDropped) {
  const auto first = must(store().hold_lock("l", "a", upkeep_hold));
  clock_.advance(upkeep_hold);
  must(store().hold_lock("l", "b", upkeep_hold));
  must(store().drop_lock(*first));
  EXPECT_FALSE(must(store().hold_lock("l", "c", upkeep_hold)).has_value());
}

CAIRN_CONTRACT(Retention);

RetentionRequest ended_before(Timestamp now) {
  return {{Status::completed, Status::failed, Status::cancelled}, now, 100};
}
Advance ended(const std::string& id, Status status = Status::completed) {
  Advance advance = sample::begin(id);
  sample::end(advance, status);
  return advance;
}

TEST_P(Retention, RemovesWhatEndedLongAgo) {
  Advance advance = sample::begin("a");
  sample::add_task(advance, "t");
  sample::add_run(advance, "r");
  advance.outbox = {sample::event("e", "s")};
  commit(advance);
  Advance last = sample::next(advance.after);
  sample::complete_task(last, "t");
  last.runs_cancelled = {{"r"}};
  sample::end(last);
  commit(last);
  clock_.advance(Duration::of_seconds(60));
  const auto outcome = must(store().retire_instances(ended_before(clock_.now())));
  EXPECT_EQ(outcome.instances, 1u);
  EXPECT_FALSE(outcome.more);
  EXPECT_FALSE(must(store().find_snapshot({"a"})).has_value());
  EXPECT_FALSE(must(store().find_task({"t"})).has_value());
  EXPECT_FALSE(must(store().find_run({"r"})).has_value());
  EXPECT_TRUE(must(store().history({"a"}, {})).items.empty());
  EXPECT_EQ(claim_events(10, upkeep_hold).size(), 1u) << "what is not published yet must still go out";
}

// What was decided about the instance before must not be written to its successor, though their state versions are
// equal.
TEST_P(Retention, AnIdThatIsGivenAgainIsAnotherInstance) {
  const Advance first = sample::begin("a");
  commit(first);
  const Advance decided = sample::next(first.after);
  Advance last = sample::next(first.after);
  sample::end(last);
  commit(last);
  clock_.advance(Duration::of_seconds(60));
  ASSERT_EQ(must(store().retire_instances(ended_before(clock_.now()))).instances, 1u);
  Advance second = sample::begin("a");
  second.after.started_at = second.after.changed_at = clock_.now();
  ASSERT_EQ(commit(second).kind, CommitOutcome::Kind::done);
  EXPECT_EQ(commit(decided).kind, CommitOutcome::Kind::stale);
  EXPECT_EQ(must(store().find_snapshot({"a"})), second.after);
  EXPECT_EQ(commit(sample::next(second.after)).kind, CommitOutcome::Kind::done);
}

TEST_P(Retention, NeverTouchesLiveWork) {
  commit(sample::begin("a"));
  Advance suspended = sample::begin("b");
  suspended.after.status = Status::suspended;
  commit(suspended);
  clock_.advance(Duration::of_seconds(3600));
  RetentionRequest request = ended_before(clock_.now());
  request.statuses.push_back(Status::waiting);
  request.statuses.push_back(Status::suspended);
  EXPECT_EQ(must(store().retire_instances(request)).instances, 0u);
  EXPECT_EQ(must(store().list_instances({}, {})).items.size(), 2u);
}

TEST_P(Retention, KeepsTheYoung) {
  commit(ended("a"));
  EXPECT_EQ(must(store().retire_instances(ended_before(sample::start_of_time))).instances, 0u);
}

TEST_P(Retention, OnlyTheStatusesAskedFor) {
  commit(ended("good"));
  commit(ended("bad", Status::failed));
  RetentionRequest request{{Status::completed}, Timestamp::of_unix_ms(1'700'000'100'000), 100};
  EXPECT_EQ(must(store().retire_instances(request)).instances, 1u);
  EXPECT_TRUE(must(store().find_instance({"bad"})).has_value());
}

TEST_P(Retention, WholeTreesOnly) {
  commit(ended("parent"));
  Advance child = sample::begin("child");
  child.after.parent = Parent{{"parent"}, {"t"}};
  commit(child);
  const RetentionRequest request = ended_before(Timestamp::of_unix_ms(1'700'000'100'000));
  EXPECT_EQ(must(store().retire_instances(request)).instances, 0u) << "its child is still alive";
  Advance last = sample::next(child.after);
  sample::end(last);
  commit(last);
  EXPECT_EQ(must(store().retire_instances(request)).instances, 2u);
}

TEST_P(Retention, AChildGoesWithItsParentNotBefore) {
  commit(sample::begin("parent"));
  Advance child = ended("child");
  child.after.parent = Parent{{"parent"}, {"t"}};
  commit(child);
  EXPECT_EQ(must(store().retire_instances(ended_before(Timestamp::of_unix_ms(1'700'000'100'000)))).instances, 0u);
}

TEST_P(Retention, SmallBatches) {
  for (int i = 0; i < 5; ++i) commit(ended("i" + std::to_string(i)));
  RetentionRequest request = ended_before(Timestamp::of_unix_ms(1'700'000'100'000));
  request.max = 2;
  std::size_t gone = 0;
  int rounds = 0;
  bool more = true;
  while (more) {
    const auto outcome = must(store().retire_instances(request));
    EXPECT_LE(outcome.instances, 2u);
    gone += outcome.instances;
    more = outcome.more;
    ++rounds;
  }
  EXPECT_EQ(gone, 5u);
  EXPECT_EQ(rounds, 3);
}

std::vector<std::string> unchanged_instances(Store& store, Timestamp before) {
  std::vector<std::string> ids;
  PageRequest page{2, ""};
  do {
    const auto found = must(store.unchanged_instances(before, page));
    EXPECT_LE(found.items.size(), 2u);
    for (const InstanceId& id : found.items) ids.push_back(id.value);
    page.cursor = found.next_cursor;
  } while (!page.cursor.empty());
  return ids;
}

TEST_P(Retention, FindsOpenRootsThatHaveNotChanged) {
  for (const char* id : {"c", "a", "parent", "moved"}) commit(sample::begin(id));
  Advance suspended = sample::begin("suspended");
  suspended.after.status = Status::suspended;
  commit(suspended);
  commit(ended("over"));
  for (const char* parent : {"parent", "over"}) {
    Advance child = sample::begin(std::string("child of ") + parent);
    child.after.parent = Parent{{parent}, {"t"}};
    commit(child);
  }
  clock_.advance(Duration::of_seconds(60));
  Advance moved = sample::next(must(store().find_snapshot({"moved"})).value());
  moved.after.changed_at = clock_.now();
  commit(moved);
  EXPECT_EQ(unchanged_instances(store(), clock_.now()),
            (std::vector<std::string>{"c", "a", "parent", "suspended", "child of over"}));
  EXPECT_TRUE(unchanged_instances(store(), sample::start_of_time).empty());
}

TEST_P(Retention, FindsOpenTasksThatHaveNotChanged) {
  Advance advance = sample::begin("a");
  for (const char* id : {"t3", "t1", "touched", "done", "t2"}) sample::add_task(advance, id);
  commit(advance);
  Advance completed = sample::next(advance.after);
  sample::complete_task(completed, "done");
  commit(completed);
  clock_.advance(Duration::of_seconds(60));
  TaskChange change;
  change.task = {"touched"};
  change.actor = change.assignee = "ann";
  must(store().change_task(change));
  std::vector<std::string> ids;
  PageRequest page{2, ""};
  do {
    const auto found = must(store().unchanged_tasks(clock_.now(), page));
    for (const TaskId& id : found.items) ids.push_back(id.value);
    page.cursor = found.next_cursor;
  } while (!page.cursor.empty());
  EXPECT_EQ(ids, (std::vector<std::string>{"t3", "t1", "t2"}));
}

TEST_P(Retention, IdempotencyKeysOutliveWhatTheyProtect) {
  Unit unit;
  unit.advances = {ended("a")};
  unit.key = IdempotencyKey{"start", "k", "h", Json("a")};
  commit(unit);
  must(store().retire_instances(ended_before(Timestamp::of_unix_ms(1'700'000'100'000))));
  EXPECT_FALSE(must(store().find_instance({"a"})).has_value());
  EXPECT_EQ(kind_of_commit(unit), Kind::duplicate_key);
}

}  // namespace cairn
