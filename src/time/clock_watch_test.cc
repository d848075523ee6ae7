#include "time/clock_watch.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ClockWatchTest, EndsWhenItIsNotNeededAnyMore) {
  bool set = false;
  for (int i = 0; i < 3; ++i) ClockWatch watch([&set] { set = true; });
  EXPECT_FALSE(set);
}

}  // namespace
}  // namespace cairn
