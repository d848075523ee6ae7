#include "http/quick_lane.h"

#include <gtest/gtest.h>

namespace cairn::http {
namespace {

using std::chrono::steady_clock;

TEST(QuickLane, StaysOpenForWhatIsQuick) {
  QuickLane lane;
  EXPECT_TRUE(lane.is_open(steady_clock::now()));
  lane.pass([] {});
  EXPECT_TRUE(lane.is_open(steady_clock::now()));
}

TEST(QuickLane, IsClosedForAWhileByWhatIsSlowAgainAndAgain) {
  QuickLane lane;
  const auto processor_time = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto slow = [&] {
    const auto until = processor_time() + QuickLane::quick + std::chrono::milliseconds(1);
    while (processor_time() < until) {
    }
  };
  lane.pass(slow);
  EXPECT_TRUE(lane.is_open(steady_clock::now())) << "once may be an accident";
  lane.pass(slow);
  const auto now = steady_clock::now();
  EXPECT_FALSE(lane.is_open(now));
  EXPECT_TRUE(lane.is_open(now + QuickLane::closed_for));
}

}  // namespace
}  // namespace cairn::http
