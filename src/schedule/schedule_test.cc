#include "schedule/schedule.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Json spec(std::string_view text) {
  auto parsed = parse_json(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *parsed : Json();
}

std::string fault(std::string_view text) {
  const auto read = read_schedule(spec(text));
  EXPECT_FALSE(read.has_value()) << text;
  return read ? "" : read.error().message;
}

TEST(Schedule, IsWrittenInOneSpelling) {
  const auto read = read_schedule(spec(
      R"({"cron":"0 6 1 * *","zone":"Europe/Zurich","catch_up":"1d","jitter":"5m","start":{"definition":"close"}})"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const Json written = write_schedule(*read);
  EXPECT_EQ(written, spec(R"({"cron":"0 6 1 * *","zone":"Europe/Zurich","catch_up":"P1D","jitter":"PT5M",
                             "overlap":"skip","start":{"definition":"close","input":{}}})"));
  EXPECT_EQ(write_schedule(*read_schedule(written)), written);
}

TEST(Schedule, MayMakeARun) {
  const auto read = read_schedule(
      spec(R"({"every":"PT15M","overlap":"queue","run":{"type":"report.v1","payload":{"x":1},"max_attempts":5}})"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const auto& run = std::get<Schedule::Run>(read->what);
  EXPECT_EQ(run.type, "report.v1");
  EXPECT_EQ(run.attempts_max, 5);
  EXPECT_EQ(read->overlap, Schedule::Overlap::queue);
  EXPECT_EQ(write_schedule(*read_schedule(write_schedule(*read))), write_schedule(*read));
}

TEST(Schedule, TakesIntegersInEverySpelling) {
  const auto read = read_schedule(spec(R"({"every":"1h","run":{"type":"t","max_attempts":5.0,"priority":1e3}})"));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(std::get<Schedule::Run>(read->what).attempts_max, 5);
  EXPECT_EQ(std::get<Schedule::Run>(read->what).priority, 1000);
  EXPECT_TRUE(fault(R"({"every":"1h","run":{"type":"t","priority":1e30}})").starts_with("/run/priority: "));
  EXPECT_TRUE(fault(R"({"every":"1h","run":{"type":"t","max_attempts":1.5}})").starts_with("/run/max_attempts: "));
}

TEST(Schedule, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(fault(R"({"start":{"definition":"a"}})"), "a schedule needs exactly one of `cron` and `every`");
  EXPECT_EQ(fault(R"({"every":"1h","cron":"@daily","start":{"definition":"a"}})"),
            "a schedule needs exactly one of `cron` and `every`");
  EXPECT_EQ(fault(R"({"every":"1h"})"), "a schedule needs exactly one of `start` and `run`");
  EXPECT_EQ(fault(R"({"every":"500ms","start":{"definition":"a"}})"), "/every: must be at least 1s");
  EXPECT_EQ(fault(R"({"every":1,"start":{"definition":"a"}})"), "/every: must be a string");
  EXPECT_TRUE(fault(R"({"cron":"61 * * * *","start":{"definition":"a"}})").starts_with("/cron: "));
  EXPECT_TRUE(fault(R"({"every":"1h","zone":"Mars/Olympus","start":{"definition":"a"}})").starts_with("/zone: "));
  EXPECT_TRUE(fault(R"({"every":"1h","overlap":"twice","start":{"definition":"a"}})").starts_with("/overlap: "));
  EXPECT_TRUE(fault(R"({"every":"1h","from":"tomorrow","start":{"definition":"a"}})").starts_with("/from: "));
  EXPECT_TRUE(fault(R"({"every":"1h","jitter":"900d","start":{"definition":"a"}})").starts_with("/jitter: "));
  EXPECT_TRUE(fault(R"({"every":"1h","start":{}})").starts_with("/start/definition: "));
  EXPECT_TRUE(fault(R"({"every":"1h","run":{"payload":1}})").starts_with("/run/type: "));
  EXPECT_TRUE(
      fault(R"({"every":"1h","from":"2024-01-02T00:00:00Z","until":"2024-01-01T00:00:00Z","start":{"definition":"a"}})")
          .starts_with("/until: "));
}

TEST(Schedule, NamesTakeNoAtSign) {
  EXPECT_FALSE(check_schedule_name("billing.month_end-2:eu"));
  EXPECT_TRUE(check_schedule_name(""));
  EXPECT_TRUE(check_schedule_name("a@b"));
  EXPECT_TRUE(check_schedule_name(std::string(151, 'a')));
}

TEST(Schedule, AFiringIsNamedAfterItsTime) {
  const std::string id = firing_id("nightly", Timestamp::of_unix_ms(1'700'000'000'000));
  EXPECT_EQ(id, "nightly@2023-11-14T22:13:20Z");
  EXPECT_EQ(schedule_of(id), "nightly");
  EXPECT_EQ(schedule_of(trigger_id("nightly", "key 1")), "nightly");
  EXPECT_EQ(trigger_id("nightly", "key 1"), trigger_id("nightly", "key 1"));
  EXPECT_NE(trigger_id("nightly", "key 1"), trigger_id("nightly", "key 2"));
  EXPECT_EQ(schedule_of("ann@example.com"), std::nullopt);
  EXPECT_EQ(schedule_of("plain"), std::nullopt);
}

}  // namespace
}  // namespace cairn
