#include "cli/stop_watchdog.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <latch>

#include "cli/exit_code.h"

namespace cairn::cli {
namespace {

constexpr std::chrono::milliseconds soon{1};

void wait_for_ever() {
  std::latch never(1);
  never.wait();
}

class StopWatchdogDeathTest : public testing::Test {
 protected:
  StopWatchdogDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(StopWatchdogDeathTest, EndsAProcessThatDoesNotStop) {
  const auto never_stops = [] {
    StopWatchdog watchdog;
    watchdog.arm(soon);
    wait_for_ever();
  };
  EXPECT_EXIT(never_stops(), testing::ExitedWithCode(exit_timed_out), "server.stop_overdue");
}

TEST_F(StopWatchdogDeathTest, CoversDestructorsThatBlock) {
  struct Blocking {
    ~Blocking() { wait_for_ever(); }
  };
  const auto never_stops = [] {
    StopWatchdog watchdog;
    const Blocking engine;
    watchdog.arm(soon);
  };
  EXPECT_EXIT(never_stops(), testing::ExitedWithCode(exit_timed_out), "server.stop_overdue");
}

TEST_F(StopWatchdogDeathTest, EndsAProcessWhoseLogIsNotRead) {
  const auto blocked = [] {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_NONBLOCK) != 0) std::_Exit(1);
    while (write(ends[1], "x", 1) == 1) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
    StopWatchdog watchdog;
    watchdog.arm(soon);
    wait_for_ever();
  };
  EXPECT_EXIT(blocked(), testing::ExitedWithCode(exit_timed_out), "");
}

TEST(StopWatchdog, LetsAStopThatIsInTimeGoOn) {
  StopWatchdog watchdog;
  watchdog.arm(std::chrono::hours(1));
}

TEST(StopWatchdog, IsIdleUntilTheStopBegins) { const StopWatchdog watchdog; }

}  // namespace
}  // namespace cairn::cli
