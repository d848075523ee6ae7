// The audit trail of runs can be left out; everything else stays as it is.
#include <unistd.h>

#include <filesystem>

#include "sample.h"
#include "store/open.h"
#include "store_under_test.h"

namespace cairn {
namespace {

void work_once(Store& store) {
  must(store.submit_run(sample::run("r")));
  const auto leased = must(store.lease_runs({"w", {}, {}, 1, Duration::of_seconds(30)}));
  ASSERT_EQ(leased.size(), 1u);
  Unit unit;
  unit.run = RunEnd{leased[0].id, leased[0].fence, RunStatus::succeeded, Json(1), Json(), "w"};
  ASSERT_EQ(must(store.commit(std::span(&unit, 1))).at(0).kind, CommitOutcome::Kind::done);
  EXPECT_EQ(must(store.find_run({"r"}))->status, RunStatus::succeeded);
}

std::size_t events_of(const std::string& url) {
  ManualClock clock(sample::start_of_time);
  auto store = open_store(url, clock);
  EXPECT_TRUE(store) << url;
  if (!store) return 99;
  work_once(**store);
  return must((*store)->run_events({"r"})).size();
}

TEST(RunEvents, AreWrittenUnlessTheUrlSaysOtherwise) {
  const std::string folder = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir()) +
                             "cairn_run_events_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  EXPECT_EQ(events_of("memory:"), 3u);
  EXPECT_EQ(events_of("memory:?run_events=off"), 0u);
  EXPECT_EQ(events_of("sqlite:" + folder + "/on.db"), 3u);
  EXPECT_EQ(events_of("sqlite:" + folder + "/off.db?run_events=off"), 0u);
  EXPECT_TRUE(std::filesystem::exists(folder + "/off.db"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cairn
