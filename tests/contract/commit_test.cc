#include <thread>

#include "sample.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;
CAIRN_CONTRACT(Commit);

TEST_P(Commit, AnUnknownInstanceIsNotFound) {
  EXPECT_FALSE(must(store().find_snapshot({"nobody"})).has_value());
  EXPECT_FALSE(must(store().find_instance({"nobody"})).has_value());
}

TEST_P(Commit, ASnapshotComesBackAsItWasStored) {
  Advance advance = sample::begin("a");
  advance.after.state =
      Json::object({{"text", "grüße \"quoted\""}, {"n", 9007199254740993}, {"d", 0.1}, {"null", Json()}});
  advance.after.reference = {Json("R-1"), Json::object({{"customer", "C"}})};
  sample::add_task(advance, "t");
  sample::add_timer(advance, "timer", Timestamp{1'700'000'100, 123'456'789});
  EXPECT_EQ(commit(advance).kind, Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), advance.after);
}

TEST_P(Commit, TheInstanceRowShowsTheSnapshot) {
  Advance advance = sample::begin("a");
  advance.after.reference = {Json("R-1"), Json::object({{"customer", "C"}})};
  advance.after.parent = Parent{{"mother"}, {"tok"}};
  commit(advance);
  const auto row = must(store().find_instance({"a"}));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->status, Status::waiting);
  EXPECT_EQ(row->state_version, 1u);
  EXPECT_EQ(row->program.name, "sample");
  EXPECT_EQ(row->reference.key, Json("R-1"));
  EXPECT_EQ(row->reference.parts, Json::object({{"customer", "C"}}));
  EXPECT_EQ(row->parent, InstanceId{"mother"});
  EXPECT_FALSE(row->ended_at);
}

TEST_P(Commit, AReferenceWithoutPartsComesBackAsAnEmptyObject) {
  commit(sample::begin("a"));
  const auto row = must(store().find_instance({"a"}));
  EXPECT_TRUE(row->reference.key.is_null());
  EXPECT_EQ(row->reference.parts, Json::object());
}

TEST_P(Commit, EachCommitMovesTheVersionByOne) {
  Advance advance = sample::begin("a");
  commit(advance);
  for (std::uint64_t state_version = 2; state_version <= 5; ++state_version) {
    advance = sample::next(advance.after);
    EXPECT_EQ(commit(advance).kind, Kind::done);
    EXPECT_EQ(must(store().find_snapshot({"a"}))->state_version, state_version);
  }
}

TEST_P(Commit, TheSecondOfTwoFromTheSameVersionIsStaleAndChangesNothing) {
  const Advance first = sample::begin("a");
  commit(first);
  Advance left = sample::next(first.after);
  left.after.state = Json::object({{"who", "left"}});
  Advance right = sample::next(first.after);
  right.after.state = Json::object({{"who", "right"}});
  sample::add_task(right, "late");
  EXPECT_EQ(commit(left).kind, Kind::done);
  EXPECT_EQ(commit(right).kind, Kind::stale);
  EXPECT_EQ(must(store().find_snapshot({"a"})), left.after);
  EXPECT_FALSE(must(store().find_task({"late"})).has_value());
}

TEST_P(Commit, ASecondStartOfTheSameIdIsStale) {
  commit(sample::begin("a"));
  EXPECT_EQ(commit(sample::begin("a")).kind, Kind::stale);
}

TEST_P(Commit, AnAdvanceOfAnInstanceThatDoesNotExistIsStale) {
  EXPECT_EQ(commit(sample::next(sample::begin("a").after)).kind, Kind::stale);
  EXPECT_FALSE(must(store().find_instance({"a"})).has_value());
}

TEST_P(Commit, OneStaleUnitDoesNotSpoilTheOthers) {
  const Advance first = sample::begin("a");
  commit(first);
  commit(sample::next(first.after));
  std::vector<Unit> units(3);
  units[0].advances = {sample::begin("b")};
  units[1].advances = {sample::next(first.after)};
  units[2].advances = {sample::begin("c")};
  const auto outcomes = must(store().commit(units));
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes[0].kind, Kind::done);
  EXPECT_EQ(outcomes[1].kind, Kind::stale);
  EXPECT_EQ(outcomes[2].kind, Kind::done);
  EXPECT_TRUE(must(store().find_instance({"b"})).has_value());
  EXPECT_TRUE(must(store().find_instance({"c"})).has_value());
}

TEST_P(Commit, TwoUnitsOfOneBatchOnTheSameInstanceTheFirstWins) {
  const Advance first = sample::begin("a");
  commit(first);
  std::vector<Unit> units(2);
  units[0].advances = {sample::next(first.after)};
  units[1].advances = {sample::next(first.after)};
  const auto outcomes = must(store().commit(units));
  EXPECT_EQ(outcomes[0].kind, Kind::done);
  EXPECT_EQ(outcomes[1].kind, Kind::stale);
}

TEST_P(Commit, AnEmptyBatchGivesAnEmptyAnswer) { EXPECT_TRUE(must(store().commit({})).empty()); }

TEST_P(Commit, AUnitWithParentAndChildrenIsOne) {
  Unit unit;
  unit.advances = {sample::begin("parent"), sample::begin("child")};
  EXPECT_EQ(commit(unit).kind, Kind::done);
  EXPECT_TRUE(must(store().find_instance({"child"})).has_value());
}

TEST_P(Commit, WhenOneInstanceOfAUnitIsStaleNothingOfItIsWritten) {
  commit(sample::begin("child"));
  Unit unit;
  unit.advances = {sample::begin("parent"), sample::begin("child")};
  unit.dead_letters.push_back({0, std::nullopt, "start", Json(), "x", "n", {}});
  EXPECT_EQ(commit(unit).kind, Kind::stale);
  EXPECT_FALSE(must(store().find_instance({"parent"})).has_value());
  EXPECT_TRUE(must(store().list_dead_letters({})).items.empty());
}

TEST_P(Commit, AnInstanceMayAdvanceTwiceInOneUnit) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_task(unit.advances[0], "t");
  unit.advances.push_back(sample::next(unit.advances[0].after));
  sample::complete_task(unit.advances[1], "t");
  EXPECT_EQ(commit(unit).kind, Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), unit.advances[1].after);
  EXPECT_TRUE(must(store().list_waits({"a"})).empty());
  EXPECT_EQ(must(store().find_task({"t"}))->status, TaskStatus::completed);
}

TEST_P(Commit, AdvancesThatDoNotFollowEachOtherFail) {
  Unit unit;
  unit.advances = {sample::begin("a"), sample::next(sample::begin("a").after)};
  unit.advances[1].from_state_version = 7;
  unit.advances[1].after.state_version = 8;
  EXPECT_EQ(commit(unit).kind, Kind::failed);
  EXPECT_FALSE(must(store().find_instance({"a"})).has_value());
}

TEST_P(Commit, AVersionThatJumpsFails) {
  Advance advance = sample::begin("a");
  advance.after.state_version = 3;
  EXPECT_EQ(commit(advance).kind, Kind::failed);
}

TEST_P(Commit, AStaleAdvanceWritesNothing) {
  const Advance first = sample::begin("a");
  commit(first);
  Advance stale = sample::next(first.after);
  stale.outcome = Advance::Outcome::stale;
  stale.after = first.after;
  EXPECT_EQ(commit(stale).kind, Kind::done);
  EXPECT_EQ(must(store().find_snapshot({"a"})), first.after);
}

TEST_P(Commit, AnEndedInstanceTakesNoMoreCommits) {
  const Advance first = sample::begin("a");
  commit(first);
  Advance last = sample::next(first.after);
  sample::end(last);
  EXPECT_EQ(commit(last).kind, Kind::done);
  const CommitOutcome after = commit(sample::next(last.after));
  EXPECT_EQ(after.kind, Kind::failed);
  EXPECT_EQ(after.error.code, ErrorCode::conflict);
  EXPECT_EQ(must(store().find_snapshot({"a"})), last.after);
}

TEST_P(Commit, AnEndedInstanceKeepsNoWait) {
  Advance first = sample::begin("a");
  sample::add_timer(first, "x", sample::start_of_time);
  sample::add_signal_wait(first, "y", "go");
  commit(first);
  Advance last = sample::next(first.after);
  last.after.status = Status::failed;
  last.after.waits.clear();
  last.after.strands.clear();
  commit(last);
  EXPECT_TRUE(must(store().list_waits({"a"})).empty());
  EXPECT_TRUE(must(store().take_timers(10, Duration::of_seconds(1))).empty());
}

TEST_P(Commit, TheEndIsTold) {
  Advance advance = sample::begin("a");
  sample::end(advance);
  commit(advance);
  ASSERT_EQ(told().ended.size(), 1u);
  EXPECT_EQ(told().ended[0].value, "a");
  EXPECT_TRUE(must(store().find_instance({"a"}))->ended_at);
}

TEST_P(Commit, ASuspendedInstanceShowsItsIncident) {
  Advance advance = sample::begin("a");
  advance.after.status = Status::suspended;
  advance.after.error = Failure{FailureClass::expression, "no_such_key", "no key x", Json(), 1, "s", "steps[0]"};
  commit(advance);
  const auto row = must(store().find_instance({"a"}));
  ASSERT_TRUE(row->error);
  EXPECT_EQ(*row->error, *advance.after.error);
}

TEST_P(Commit, WaitsOpenAndClose) {
  Advance first = sample::begin("a");
  sample::add_task(first, "t");
  sample::add_signal_wait(first, "s", "go", Json("k"));
  commit(first);
  auto waits = must(store().list_waits({"a"}));
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].name, "go");
  EXPECT_EQ(waits[0].key, Json("k"));
  EXPECT_EQ(waits[1].target, "t");
  Advance second = sample::next(first.after);
  sample::close_wait(second, "s");
  commit(second);
  waits = must(store().list_waits({"a"}));
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].kind, WaitKind::task);
}

TEST_P(Commit, HistoryIsAppendedInOrder) {
  Advance first = sample::begin("a");
  commit(first);
  Advance second = sample::next(first.after);
  LogEntry entry{LogEntry::Kind::faulted, "call", sample::start_of_time, "worker", 2, Json::object({{"code", "x"}})};
  entry.visit = "task-1";
  second.log = {entry, entry};
  second.log[1].kind = LogEntry::Kind::resumed;
  commit(second);
  const auto page = must(store().history({"a"}, {}));
  ASSERT_EQ(page.items.size(), 3u);
  EXPECT_EQ(page.items[0].entry, first.log[0]);
  EXPECT_EQ(page.items[0].state_version, 1u);
  EXPECT_EQ(page.items[1].entry, entry);
  EXPECT_EQ(page.items[2].entry.kind, LogEntry::Kind::resumed);
  EXPECT_EQ(page.items[2].state_version, 2u);
  EXPECT_LT(page.items[1].sequence, page.items[2].sequence);
}

TEST_P(Commit, HistoryHasPages) {
  Advance advance = sample::begin("a");
  advance.log.resize(1);
  for (int i = 0; i < 6; ++i) advance.log.push_back(advance.log[0]);
  commit(advance);
  std::size_t seen = 0;
  std::string cursor;
  do {
    const auto page = must(store().history({"a"}, {3, cursor}));
    seen += page.items.size();
    cursor = page.next_cursor;
  } while (!cursor.empty());
  EXPECT_EQ(seen, 7u);
}

TEST_P(Commit, ManyThreadsOnOneInstanceOneWinnerEach) {
  if (forgets_marks()) GTEST_SKIP() << "opens the store before each call";
  Store& shared = store();
  const Advance first = sample::begin("a");
  commit(first);
  std::atomic<int> done = 0;
  std::atomic<int> stale = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 5; ++round) {
          Unit unit;
          unit.advances = {sample::next(first.after)};
          unit.advances[0].after.state = Json::object({{"who", i}});
          const auto outcomes = shared.commit(std::span(&unit, 1));
          if (!outcomes) continue;
          ((*outcomes)[0].kind == Kind::done ? done : stale)++;
        }
      });
    }
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(stale, 39);
  EXPECT_EQ(must(store().find_snapshot({"a"}))->state_version, 2u);
}

CAIRN_CONTRACT(Keys);

Unit start_with_key(const std::string& id, const std::string& key, const std::string& hash) {
  Unit unit;
  unit.advances = {sample::begin(id)};
  unit.key = IdempotencyKey{"start", key, hash, Json::object({{"instance", id}})};
  return unit;
}

TEST_P(Keys, AKeyIsKeptWithItsAnswer) {
  EXPECT_EQ(commit(start_with_key("a", "k", "h")).kind, Kind::done);
  const auto known = must(store().find_key("start", "k"));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->request_hash, "h");
  EXPECT_EQ(known->answer, Json::object({{"instance", "a"}}));
  EXPECT_FALSE(must(store().find_key("task", "k")).has_value());
}

TEST_P(Keys, TheSameRequestAgainGetsTheFirstAnswer) {
  commit(start_with_key("a", "k", "h"));
  const CommitOutcome again = commit(start_with_key("b", "k", "h"));
  EXPECT_EQ(again.kind, Kind::duplicate_key);
  EXPECT_TRUE(again.same_request);
  EXPECT_EQ(again.answer, Json::object({{"instance", "a"}}));
  EXPECT_FALSE(must(store().find_instance({"b"})).has_value());
}

TEST_P(Keys, TheSameKeyWithAnotherBodyIsToldApart) {
  commit(start_with_key("a", "k", "h"));
  const CommitOutcome other = commit(start_with_key("b", "k", "other"));
  EXPECT_EQ(other.kind, Kind::duplicate_key);
  EXPECT_FALSE(other.same_request);
}

TEST_P(Keys, TwoOfOneBatchWithTheSameKeyOneInstance) {
  const std::vector<Unit> units{start_with_key("a", "k", "h"), start_with_key("b", "k", "h")};
  const auto outcomes = must(store().commit(units));
  EXPECT_EQ(outcomes[0].kind, Kind::done);
  EXPECT_EQ(outcomes[1].kind, Kind::duplicate_key);
  EXPECT_EQ(outcomes[1].answer, Json::object({{"instance", "a"}}));
}

TEST_P(Keys, AStaleUnitDoesNotTakeItsKey) {
  commit(sample::begin("a"));
  EXPECT_EQ(commit(start_with_key("a", "k", "h")).kind, Kind::stale);
  EXPECT_FALSE(must(store().find_key("start", "k")).has_value());
}

TEST_P(Keys, ScopesAreApart) {
  commit(start_with_key("a", "k", "h"));
  Unit unit = start_with_key("b", "k", "h");
  unit.key->scope = "other";
  EXPECT_EQ(commit(unit).kind, Kind::done);
}

TEST_P(Keys, ADeletedInstanceKeepsItsKeyTaken) {
  Unit unit = start_with_key("a", "k", "h");
  sample::end(unit.advances[0]);
  commit(unit);
  EXPECT_TRUE(must(store().mark_deleted({"a"}, "tidy")));
  EXPECT_EQ(commit(start_with_key("b", "k", "h")).kind, Kind::duplicate_key);
}

TEST_P(Keys, ManyThreadsWithOneKeyStartOnce) {
  if (forgets_marks()) GTEST_SKIP() << "opens the store before each call";
  Store& shared = store();
  std::atomic<int> done = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        const Unit unit = start_with_key("i" + std::to_string(i), "k", "h");
        const auto outcomes = shared.commit(std::span(&unit, 1));
        if (outcomes && (*outcomes)[0].kind == Kind::done) ++done;
      });
    }
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(must(store().list_instances({}, {})).items.size(), 1u);
}

CAIRN_CONTRACT(Inbox);

TEST_P(Inbox, ASignalIdIsAppliedOncePerInstance) {
  const Advance first = sample::begin("a");
  commit(first);
  Unit unit;
  unit.advances = {sample::next(first.after)};
  unit.inbox = Unit::Inbox{{"a"}, "sig-1"};
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  Unit again;
  again.advances = {sample::next(unit.advances[0].after)};
  again.inbox = unit.inbox;
  EXPECT_EQ(kind_of_commit(again), Kind::duplicate_signal);
  EXPECT_EQ(must(store().find_snapshot({"a"}))->state_version, 2u);
}

TEST_P(Inbox, ARepeatAfterAnotherSignalIsStillKnown) {
  Advance advance = sample::begin("a");
  commit(advance);
  for (const char* id : {"one", "two", "one"}) {
    Unit unit;
    unit.advances = {sample::next(advance.after)};
    unit.inbox = Unit::Inbox{{"a"}, id};
    const auto kind = kind_of_commit(unit);
    if (kind == Kind::done) advance = unit.advances[0];
    EXPECT_EQ(kind, advance.after.state_version == 3 && std::string(id) == "one" ? Kind::duplicate_signal : Kind::done);
  }
  EXPECT_EQ(must(store().find_snapshot({"a"}))->state_version, 3u);
}

TEST_P(Inbox, TheSameIdForAnotherInstanceIsAnother) {
  for (const char* id : {"a", "b"}) {
    const Advance first = sample::begin(id);
    commit(first);
    Unit unit;
    unit.advances = {sample::next(first.after)};
    unit.inbox = Unit::Inbox{{id}, "sig"};
    EXPECT_EQ(kind_of_commit(unit), Kind::done);
  }
}

}  // namespace cairn
