#include "store/postgres/runs/known_leases.h"

#include <gtest/gtest.h>

namespace cairn::postgres {

namespace {

constexpr const char* first = "01899a10-0000-7000-8000-00000000000a";
constexpr const char* second = "01899a10-0000-7000-8000-00000000000b";

}  // namespace

TEST(KnownLeases, ARowGoesWithTheLastOfItsRuns) {
  KnownLeases watch;
  watch.leased({7, {{first}, {second}}});
  watch.ended(first, 0);
  watch.ended(first, 0);  // reported twice, counted once
  EXPECT_TRUE(watch.spent().empty());
  watch.ended(second, 0);
  EXPECT_EQ(watch.spent(), std::vector<std::int64_t>{7});
  EXPECT_TRUE(watch.spent().empty());
}

TEST(KnownLeases, ARunThatIsLeasedAgainBelongsToItsNewRow) {
  KnownLeases watch;
  watch.leased({7, {{first}, {second}}});
  watch.leased({8, {{first}}});
  watch.ended(first, 0);
  EXPECT_EQ(watch.spent(), std::vector<std::int64_t>{8});
  watch.ended(second, 0);
  EXPECT_TRUE(watch.spent().empty()) << "the old row still names a run that ended elsewhere: its time removes it";
}

TEST(KnownLeases, AnEarlierLeaseThatIsSaidToHaveEndedLateLeavesTheNextOneWatched) {
  KnownLeases watch;
  watch.leased({8, {{first, 4, 1}}});
  watch.ended(first, 3);
  EXPECT_TRUE(watch.spent().empty());
  watch.ended(first, 4);
  EXPECT_EQ(watch.spent(), std::vector<std::int64_t>{8});
}

TEST(KnownLeases, WhatNobodyLeasedHereIsNoMatter) {
  KnownLeases watch;
  watch.ended(first, 0);
  EXPECT_TRUE(watch.spent().empty());
}

TEST(KnownLeases, TheAttemptIsThatOfTheLease) {
  KnownLeases watch;
  watch.leased({7, {{first, 3, 2}, {second}}});
  EXPECT_EQ(watch.attempt_of(first, 3), 2);
  EXPECT_EQ(watch.attempt_of(first, 2), std::nullopt) << "an older lease";
  EXPECT_EQ(watch.attempt_of(second, 0), std::nullopt) << "nobody has said";
  watch.ended(first, 3);
  EXPECT_EQ(watch.attempt_of(first, 3), std::nullopt);
}

TEST(KnownLeases, UpperAndLowerCaseNameTheSameRun) {
  KnownLeases watch;
  watch.leased({7, {{first}}});
  watch.ended("01899A10-0000-7000-8000-00000000000A", 0);
  EXPECT_EQ(watch.spent(), std::vector<std::int64_t>{7});
}

}  // namespace cairn::postgres
