#include "cli/stop_watchdog.h"

#include <gtest/gtest.h>

#include <latch>

#include "cli/exit_code.h"

namespace cairn::cli {
namespace {

TEST(StopWatchdogDeathTest, EndsAProcessThatDoesNotStop) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto never_stops = [] {
    const StopWatchdog watchdog(std::chrono::milliseconds(1));
    std::latch never(1);
    never.wait();
  };
  EXPECT_EXIT(never_stops(), testing::ExitedWithCode(exit_timed_out), "server.stop_overdue");
}

TEST(StopWatchdog, LetsAStopThatIsInTimeGoOn) { const StopWatchdog watchdog(std::chrono::hours(1)); }

}  // namespace
}  // namespace cairn::cli
