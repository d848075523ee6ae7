#include "base/clock.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

constexpr std::int64_t second = 1'000'000'000;

class ForwardClockTest : public testing::Test {
 protected:
  void pass(std::int64_t seconds) {
    at_.wall_ns += seconds * second;
    at_.elapsed_ns += seconds * second;
  }
  ForwardClock::Reading at_{1'700'000'000 * second, 50 * second};
  ForwardClock clock_{[this] { return at_; }};
};

TEST_F(ForwardClockTest, IsTheSystemsTime) {
  EXPECT_EQ(clock_.now().seconds, 1'700'000'000);
  pass(60);
  EXPECT_EQ(clock_.now().seconds, 1'700'000'060);
}

TEST_F(ForwardClockTest, FollowsAClockThatIsSetForward) {
  clock_.now();
  at_.wall_ns += 3600 * second;
  EXPECT_EQ(clock_.now().seconds, 1'700'003'600);
}

TEST_F(ForwardClockTest, GoesOnWhenTheClockIsSetBack) {
  const Timestamp before = clock_.now();
  at_.wall_ns -= 3600 * second;
  EXPECT_EQ(clock_.now(), before);
  pass(300);
  EXPECT_EQ(clock_.now().seconds, before.seconds + 297) << "five minutes are five minutes, but for one in a hundred";
}

TEST_F(ForwardClockTest, AgreesWithTheSystemAgainAfterAWhile) {
  clock_.now();
  at_.wall_ns -= 3 * second;
  for (int i = 0; i < 400; ++i) {
    const Timestamp before = clock_.now();
    pass(1);
    EXPECT_LE(before, clock_.now());
  }
  EXPECT_EQ(clock_.now().seconds, at_.wall_ns / second);
}

TEST_F(ForwardClockTest, ContinuesFromTheTimeOfAnEarlierProcess) {
  clock_.continue_from({1'700'003'600, 0});
  EXPECT_EQ(clock_.now().seconds, 1'700'003'600);
  pass(100);
  EXPECT_EQ(clock_.now().seconds, 1'700'003'699);
  clock_.continue_from({1'600'000'000, 0});
  EXPECT_EQ(clock_.now().seconds, 1'700'003'699) << "an earlier time changes nothing";
  pass(3600);
  at_.wall_ns += 3600 * second;
  EXPECT_EQ(clock_.now().seconds, at_.wall_ns / second);
}

TEST_F(ForwardClockTest, TheRealOneIsNow) {
  ForwardClock real;
  const auto wall = SystemClock().now().seconds;
  EXPECT_NEAR(static_cast<double>(real.now().seconds), static_cast<double>(wall), 5);
}

}  // namespace
}  // namespace cairn
