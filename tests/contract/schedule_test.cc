#include "sample.h"
#include "store_under_test.h"

namespace cairn {

constexpr Duration schedule_hold = Duration::of_seconds(30);

CAIRN_CONTRACT(Schedules);

Timestamp at_second(std::int64_t second) {
  return Timestamp::of_unix_ms(sample::start_of_time.unix_ms() + second * 1000);
}

ScheduleRow schedule(const std::string& name, std::optional<Timestamp> next) {
  ScheduleRow row;
  row.name = name;
  row.spec = Json::object({{"every", "PT1M"}});
  row.next_at = next;
  return row;
}

TEST_P(Schedules, ComeBackAsTheyWereWritten) {
  ScheduleRow row = schedule("nightly", at_second(60));
  row.last_at = at_second(-60);
  row.last = Json::object({{"instance", "i"}});
  row.queued = Json::array({Json("2023-11-14T22:13:20Z")});
  EXPECT_EQ(must(store().put_schedule(row)), PutSchedule::done);
  const auto found = must(store().find_schedule("nightly"));
  ASSERT_TRUE(found);
  row.state_version = 1;
  row.created_at = row.changed_at = sample::start_of_time;
  EXPECT_EQ(*found, row);
  EXPECT_FALSE(must(store().find_schedule("other")).has_value());
}

TEST_P(Schedules, AChangeNeedsTheVersionThatWasSeen) {
  must(store().put_schedule(schedule("s", at_second(60))));
  EXPECT_EQ(must(store().put_schedule(schedule("s", at_second(60)))), PutSchedule::stale) << "it exists already";
  ScheduleRow row = *must(store().find_schedule("s"));
  row.paused = true;
  clock_.advance(Duration::of_seconds(5));
  EXPECT_EQ(must(store().put_schedule(row)), PutSchedule::done);
  EXPECT_EQ(must(store().put_schedule(row)), PutSchedule::stale) << "that version is gone";
  const auto after = must(store().find_schedule("s"));
  EXPECT_EQ(after->state_version, 2u);
  EXPECT_TRUE(after->paused);
  EXPECT_EQ(after->created_at, sample::start_of_time);
  EXPECT_EQ(after->changed_at, at_second(5));
  ScheduleRow unknown = schedule("unknown", std::nullopt);
  unknown.state_version = 3;
  EXPECT_EQ(must(store().put_schedule(unknown)), PutSchedule::stale);
}

TEST_P(Schedules, AreTakenWhenTheirTimeHasCome) {
  must(store().put_schedule(schedule("late", at_second(20))));
  must(store().put_schedule(schedule("early", at_second(10))));
  must(store().put_schedule(schedule("never", std::nullopt)));
  EXPECT_TRUE(must(store().take_schedules(10, schedule_hold)).empty());
  clock_.advance(Duration::of_seconds(20));
  const auto due = must(store().take_schedules(10, schedule_hold));
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].name, "early");
  EXPECT_EQ(due[1].name, "late");
}

TEST_P(Schedules, APausedOneIsNeverDue) {
  ScheduleRow row = schedule("s", at_second(10));
  row.paused = true;
  must(store().put_schedule(row));
  EXPECT_FALSE(must(store().next_due()).has_value());
  clock_.advance(Duration::of_seconds(60));
  EXPECT_TRUE(must(store().take_schedules(10, schedule_hold)).empty());
}

TEST_P(Schedules, WhatIsTakenIsNotGivenOutAgainWhileItIsHeld) {
  if (forgets_marks()) GTEST_SKIP() << "a crash gives it back";
  must(store().put_schedule(schedule("a", at_second(0))));
  must(store().put_schedule(schedule("b", at_second(0))));
  EXPECT_EQ(must(store().take_schedules(1, schedule_hold)).size(), 1u);
  EXPECT_EQ(must(store().take_schedules(10, schedule_hold)).size(), 1u);
  EXPECT_TRUE(must(store().take_schedules(10, schedule_hold)).empty());
  EXPECT_EQ(must(store().next_due()), at_second(30)) << "when the first hold is over";
  clock_.advance(schedule_hold);
  EXPECT_EQ(must(store().take_schedules(10, schedule_hold)).size(), 2u);
}

TEST_P(Schedules, AChangedRowIsFreeAtOnce) {
  must(store().put_schedule(schedule("s", at_second(0))));
  ScheduleRow row = must(store().take_schedules(1, schedule_hold)).at(0);
  row.next_at = at_second(0);
  must(store().put_schedule(row));
  EXPECT_EQ(must(store().take_schedules(1, schedule_hold)).size(), 1u);
}

TEST_P(Schedules, NextDueIsTheEarliest) {
  must(store().put_schedule(schedule("a", at_second(50))));
  must(store().put_schedule(schedule("b", at_second(40))));
  EXPECT_EQ(must(store().next_due()), at_second(40));
  EXPECT_EQ(told().due, at_second(40)) << "whoever sleeps is told";
  Advance advance = sample::begin("i");
  sample::add_timer(advance, "tick", at_second(30));
  commit(advance);
  EXPECT_EQ(must(store().next_due()), at_second(30));
}

TEST_P(Schedules, AreListedByName) {
  for (const char* name : {"c", "a", "b"}) must(store().put_schedule(schedule(name, std::nullopt)));
  const auto first = must(store().list_schedules({2, ""}));
  ASSERT_EQ(first.items.size(), 2u);
  EXPECT_EQ(first.items[0].name, "a");
  const auto rest = must(store().list_schedules({2, first.next_cursor}));
  ASSERT_EQ(rest.items.size(), 1u);
  EXPECT_EQ(rest.items[0].name, "c");
  EXPECT_TRUE(rest.next_cursor.empty());
}

TEST_P(Schedules, AreRemoved) {
  must(store().put_schedule(schedule("s", at_second(0))));
  EXPECT_TRUE(must(store().remove_schedule("s")));
  EXPECT_FALSE(must(store().remove_schedule("s")));
  EXPECT_TRUE(must(store().take_schedules(10, schedule_hold)).empty());
  EXPECT_EQ(must(store().put_schedule(schedule("s", at_second(0)))), PutSchedule::done) << "the name is free again";
}

}  // namespace cairn
