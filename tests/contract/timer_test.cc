#include <map>
#include <mutex>
#include <thread>

#include "base/ordered_id.h"
#include "sample.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;
CAIRN_CONTRACT(Timers);

constexpr Duration timer_hold = Duration::of_seconds(30);
Timestamp at(std::int64_t ms) { return Timestamp::of_unix_ms(1'700'000'000'000 + ms); }

Advance with_timer(const std::string& id, Timestamp until) {
  Advance advance = sample::begin(id);
  sample::add_timer(advance, "timer-" + id, until);
  return advance;
}

TEST_P(Timers, NothingIsDueInAnEmptyStore) {
  EXPECT_TRUE(must(store().take_timers(10, timer_hold)).empty());
  EXPECT_EQ(must(store().next_due()), std::nullopt);
}

TEST_P(Timers, TheEarliestIsWhatIsDueNext) {
  commit(with_timer("a", at(5000)));
  commit(with_timer("b", at(2000)));
  commit(with_timer("c", at(9000)));
  EXPECT_EQ(must(store().next_due()), at(2000));
  EXPECT_EQ(told().due, at(2000));
}

TEST_P(Timers, NeverFireEarly) {
  commit(with_timer("a", at(2000)));
  clock_.set(at(1999));
  EXPECT_TRUE(must(store().take_timers(10, timer_hold)).empty());
  clock_.set(at(2000));
  const auto due = must(store().take_timers(10, timer_hold));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0], (DueTimer{{"a"}, {"timer-a"}, at(2000)}));
}

TEST_P(Timers, APartOfAMillisecondRoundsUp) {
  Advance advance = with_timer("a", Timestamp{1'700'000'002, 1});
  commit(advance);
  clock_.set(at(2000));
  EXPECT_TRUE(must(store().take_timers(10, timer_hold)).empty());
  clock_.set(at(2001));
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
}

TEST_P(Timers, ComeInTheOrderInWhichTheyFallDue) {
  commit(with_timer("late", at(3000)));
  commit(with_timer("early", at(1000)));
  clock_.set(at(4000));
  const auto due = must(store().take_timers(10, timer_hold));
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].instance.value, "early");
  EXPECT_EQ(due[1].instance.value, "late");
}

TEST_P(Timers, OfTheSameInstantComeInTheOrderInWhichTheyWereSet) {
  const auto token = [](int number) { return ordered_uuid("a", "wait", static_cast<std::uint64_t>(number)); };
  Advance advance = sample::begin("a");
  // Not in the order of their numbers, so that no order of writing helps.
  for (int i = 0; i < 20; ++i) sample::add_timer(advance, token(i * 7 % 20 + 1), at(1000));
  commit(advance);
  clock_.set(at(1000));
  const auto due = must(store().take_timers(100, timer_hold));
  ASSERT_EQ(due.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(due[static_cast<std::size_t>(i)].token.value, token(i + 1)) << i;
}

TEST_P(Timers, TwoThatTakeAtOnceHaveEachTimerOnce) {
  if (forgets_marks()) GTEST_SKIP() << "opened anew for each call";
  constexpr int count = 400;
  std::vector<Unit> units(count);
  std::map<std::string, Snapshot> begun;
  for (int i = 0; i < count; ++i) {
    Advance advance = with_timer("i" + std::to_string(i), at(1000));
    begun[advance.after.instance.value] = advance.after;
    units[static_cast<std::size_t>(i)].advances = {advance};
  }
  ASSERT_EQ(must(store().commit(units)).size(), static_cast<std::size_t>(count));
  clock_.set(at(2000));
  Store& shared = store();
  std::mutex mutex;
  std::map<std::string, int> taken;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 2; ++thread) {
      threads.emplace_back([&] {
        for (;;) {
          const auto due = must(shared.take_timers(64, timer_hold));
          if (due.empty()) return;
          std::vector<Unit> fired;
          for (const DueTimer& timer : due) {
            {
              const std::lock_guard lock(mutex);
              ++taken[timer.instance.value];
            }
            Unit unit;
            unit.advances = {sample::next(begun.at(timer.instance.value))};
            unit.timer = timer;
            sample::close_wait(unit.advances[0], timer.token.value);
            fired.push_back(std::move(unit));
          }
          for (const CommitOutcome& outcome : must(shared.commit(fired))) EXPECT_EQ(outcome.kind, Kind::done);
        }
      });
    }
  }
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(count));
  for (const auto& [instance, times] : taken) EXPECT_EQ(times, 1) << instance;
}

// A timer that could not be delivered is held for a while. Later timers wait, but only those of its instance.
TEST_P(Timers, NoneIsTakenPastAnEarlierOneThatIsHeld) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  Advance advance = with_timer("a", at(1000));
  sample::add_timer(advance, "second", at(2000));
  commit(advance);
  commit(with_timer("b", at(2000)));
  clock_.set(at(1000));
  ASSERT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
  clock_.set(at(2000));
  const auto others = must(store().take_timers(10, timer_hold));
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].instance.value, "b");
  EXPECT_EQ(must(store().next_due()), at(31'000)) << "the one behind it needs no attention before";
  clock_.set(at(31'000));
  const auto again = must(store().take_timers(10, timer_hold));
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].token.value, "timer-a");
  EXPECT_EQ(again[1].token.value, "second");
}

TEST_P(Timers, EqualTimesComeInTheOrderTheyWereSet) {
  for (const char* id : {"b", "a", "c"}) commit(with_timer(id, at(1000)));
  clock_.set(at(1000));
  const auto due = must(store().take_timers(10, timer_hold));
  ASSERT_EQ(due.size(), 3u);
  EXPECT_EQ(due[0].instance.value, "b");
  EXPECT_EQ(due[1].instance.value, "a");
  EXPECT_EQ(due[2].instance.value, "c");
}

TEST_P(Timers, AreRemovedWithTheUnitTheyCaused) {
  const Advance first = with_timer("a", at(1000));
  commit(first);
  clock_.set(at(1000));
  Unit unit;
  unit.timer = must(store().take_timers(10, timer_hold)).at(0);
  unit.advances = {sample::next(first.after)};
  sample::close_wait(unit.advances[0], "timer-a");
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  EXPECT_EQ(must(store().next_due()), std::nullopt);
  EXPECT_TRUE(must(store().list_timers({"a"})).empty());
}

TEST_P(Timers, OneThatFiredCannotFireAgain) {
  const Advance first = with_timer("a", at(1000));
  commit(first);
  clock_.set(at(1000));
  Unit unit;
  unit.timer = must(store().take_timers(10, timer_hold)).at(0);
  unit.advances = {sample::next(first.after)};
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
  Unit again;
  again.timer = unit.timer;
  again.advances = {sample::next(unit.advances[0].after)};
  EXPECT_EQ(kind_of_commit(again), Kind::stale);
  EXPECT_EQ(must(store().find_snapshot({"a"}))->state_version, 2u);
}

TEST_P(Timers, AStaleUnitLeavesTheTimer) {
  const Advance first = with_timer("a", at(1000));
  commit(first);
  commit(sample::next(first.after));
  clock_.set(at(1000));
  Unit unit;
  unit.timer = must(store().take_timers(10, timer_hold)).at(0);
  unit.advances = {sample::next(first.after)};
  EXPECT_EQ(kind_of_commit(unit), Kind::stale);
  store().give_back(*unit.timer);
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
}

TEST_P(Timers, OfAClosedWaitAreForgottenWhenTheyFallDue) {
  const Advance first = with_timer("a", at(1000));
  commit(first);
  Advance second = sample::next(first.after);
  sample::close_wait(second, "timer-a");
  commit(second);
  clock_.set(at(1000));
  EXPECT_TRUE(must(store().take_timers(10, timer_hold)).empty());
  EXPECT_EQ(must(store().next_due()), std::nullopt);
}

TEST_P(Timers, AMovedTimerFiresOnlyAtItsNewTime) {
  const Advance first = with_timer("a", at(1000));
  commit(first);
  Advance second = sample::next(first.after);
  sample::close_wait(second, "timer-a");
  sample::add_timer(second, "timer-a2", at(5000));
  commit(second);
  clock_.set(at(1000));
  EXPECT_TRUE(must(store().take_timers(10, timer_hold)).empty());
  EXPECT_EQ(must(store().next_due()), at(5000));
  clock_.set(at(5000));
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).at(0).token.value, "timer-a2");
}

TEST_P(Timers, WhatIsTakenIsNotGivenOutAgainWhileHeld) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  commit(with_timer("a", at(1000)));
  commit(with_timer("b", at(60'000)));
  clock_.set(at(1000));
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
  EXPECT_TRUE(must(store().take_timers(10, timer_hold)).empty());
  EXPECT_EQ(must(store().next_due()), at(31'000));
  clock_.set(at(31'000));
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
}

TEST_P(Timers, ACrashGivesThemBack) {
  if (!forgets_marks()) GTEST_SKIP() << "needs a store that is opened again";
  commit(with_timer("a", at(1000)));
  clock_.set(at(1000));
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
  EXPECT_EQ(must(store().take_timers(10, timer_hold)).size(), 1u);
}

TEST_P(Timers, AtMostAsManyAsAsked) {
  for (int i = 0; i < 5; ++i) commit(with_timer("i" + std::to_string(i), at(1000)));
  clock_.set(at(1000));
  EXPECT_EQ(must(store().take_timers(2, timer_hold)).size(), 2u);
}

TEST_P(Timers, ManyStaleOnesDoNotHideALiveOne) {
  Advance advance = sample::begin("a");
  for (int i = 0; i < 10; ++i) sample::add_timer(advance, "t" + std::to_string(i), at(1000 + i));
  commit(advance);
  Advance second = sample::next(advance.after);
  for (int i = 0; i < 9; ++i) sample::close_wait(second, "t" + std::to_string(i));
  commit(second);
  clock_.set(at(2000));
  std::vector<DueTimer> due;
  for (int round = 0; round < 10 && due.empty(); ++round) due = must(store().take_timers(2, timer_hold));
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].token.value, "t9");
}

TEST_P(Timers, AreListedPerInstance) {
  commit(with_timer("a", at(1000)));
  commit(with_timer("b", at(2000)));
  EXPECT_EQ(must(store().list_timers({"b"})), (std::vector<DueTimer>{{{"b"}, {"timer-b"}, at(2000)}}));
}

}  // namespace cairn
