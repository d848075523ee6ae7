// Bulk actions on a store of their own: progress, previews, pauses, and what another server continues.
#include "api/bulk_jobs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>

#include "base/clock.h"
#include "store/memory/memory_store.h"

namespace cairn::api {
namespace {

class BulkJobsTest : public testing::Test {
 protected:
  static Json order() { return Json::object({{"action", "suspend"}}); }
  static std::vector<InstanceId> some(std::size_t count) {
    std::vector<InstanceId> ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back({"i" + std::to_string(i)});
    return ids;
  }
  static BulkJobs::Progress end_of(BulkJobs& jobs, const std::string& id) {
    for (;;) {
      std::promise<BulkJobs::Progress> told;
      const auto found = jobs.find(id);
      EXPECT_TRUE(found && *found);
      EXPECT_TRUE(jobs.tell(id, (**found).position(), [&told](const BulkJobs::Progress& now) { told.set_value(now); }));
      const BulkJobs::Progress progress = told.get_future().get();
      if (progress.state != BulkJobs::State::running) return progress;
    }
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'800'000'000'000)};
  MemoryStore store_{clock_};
};

TEST_F(BulkJobsTest, AWaitForProgressEndsAfterAWhile) {
  std::promise<void> release;
  BulkJobs jobs(
      store_, "node",
      [&](const Json&, const InstanceId&) -> Result<void> {
        release.get_future().wait();
        return {};
      },
      std::chrono::milliseconds(1));
  const auto id = jobs.submit(order(), some(1), BulkJobs::State::running);
  ASSERT_TRUE(id && *id);
  std::promise<BulkJobs::Progress> told;
  EXPECT_TRUE(jobs.tell(**id, 0, [&told](const BulkJobs::Progress& progress) { told.set_value(progress); }));
  const BulkJobs::Progress progress = told.get_future().get();
  EXPECT_EQ(progress.state, BulkJobs::State::running);
  EXPECT_EQ(progress.done, 0u);
  release.set_value();
}

TEST_F(BulkJobsTest, TellsThoseWhoWaitWhenTheServerDrains) {
  std::mutex mutex;
  std::condition_variable changed;
  bool released = false;
  BulkJobs jobs(store_, "node", [&](const Json&, const InstanceId&) -> Result<void> {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return released; });
    return {};
  });
  const auto id = jobs.submit(order(), some(2), BulkJobs::State::running);
  ASSERT_TRUE(id && *id);
  int told = 0;
  const auto tell = [&told](const BulkJobs::Progress& progress) { told += progress.is_over() ? 100 : 1; };
  EXPECT_TRUE(jobs.tell(**id, 0, tell));
  EXPECT_EQ(told, 0);
  jobs.stop_waiting();
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(jobs.tell(**id, 0, tell));
  EXPECT_EQ(told, 2);
  const std::scoped_lock lock(mutex);
  released = true;
  changed.notify_all();
}

TEST_F(BulkJobsTest, APreviewBeginsWhenItIsStarted) {
  std::atomic<int> acted{0};
  BulkJobs jobs(store_, "node", [&](const Json&, const InstanceId&) -> Result<void> {
    ++acted;
    return {};
  });
  const auto id = jobs.submit(order(), some(2'500), BulkJobs::State::preview);
  ASSERT_TRUE(id && *id);
  EXPECT_EQ((**jobs.find(**id)).state, BulkJobs::State::preview);
  EXPECT_EQ((**jobs.find(**id)).total, 2'500u);
  EXPECT_EQ(acted, 0);
  ASSERT_TRUE(jobs.resume(**id));
  const BulkJobs::Progress end = end_of(jobs, **id);
  EXPECT_EQ(end.state, BulkJobs::State::finished);
  EXPECT_EQ(end.done, 2'500u);
  EXPECT_EQ(acted, 2'500);
  EXPECT_FALSE(jobs.cancel(**id)) << "it is over";
  const auto items = jobs.items(end, 999, 3);
  ASSERT_TRUE(items);
  EXPECT_EQ(*items, (std::vector<InstanceId>{{"i999"}, {"i1000"}, {"i1001"}}));
}

TEST_F(BulkJobsTest, AnotherServerContinuesWhatOneLeft) {
  std::mutex mutex;
  std::set<std::string> acted;
  std::optional<std::string> id;
  {
    std::promise<void> reached;
    std::atomic<int> count{0};
    // From the 301st on the store is not available, so the job is in the middle when the server stops.
    BulkJobs jobs(store_, "first", [&](const Json&, const InstanceId& instance) -> Result<void> {
      if (count++ == 300) reached.set_value();
      if (count > 300) return Error{ErrorCode::unavailable, "the disk is full"};
      const std::scoped_lock lock(mutex);
      acted.insert(instance.value);
      return {};
    });
    id = *jobs.submit(order(), some(2'000), BulkJobs::State::running);
    reached.get_future().wait();
  }
  EXPECT_EQ(acted.size(), 300u);
  std::atomic<int> second{0};
  BulkJobs jobs(store_, "second", [&](const Json& given, const InstanceId& instance) -> Result<void> {
    EXPECT_EQ(given.text_or("action", ""), "suspend");
    ++second;
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(acted.insert(instance.value).second) << instance.value << " again";
    return {};
  });
  jobs.serve();
  const BulkJobs::Progress end = end_of(jobs, *id);
  EXPECT_EQ(end.state, BulkJobs::State::finished);
  EXPECT_EQ(end.done, 2'000u);
  EXPECT_EQ(acted.size(), 2'000u);
  EXPECT_GT(second, 0);
}

TEST_F(BulkJobsTest, APausedJobStopsAndGoesOnWhereItWas) {
  std::mutex mutex;
  std::condition_variable changed;
  int allowed = 0, acted = 0;
  BulkJobs jobs(store_, "node", [&](const Json&, const InstanceId&) -> Result<void> {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return acted < allowed; });
    ++acted;
    return acted == 7 ? Result<void>(Error{ErrorCode::conflict, "no"}) : Result<void>();
  });
  const auto id = jobs.submit(order(), some(400), BulkJobs::State::running);
  ASSERT_TRUE(id && *id);
  ASSERT_TRUE(jobs.pause(**id));
  const auto allow = [&](int count) {
    const std::scoped_lock lock(mutex);
    allowed = count;
    changed.notify_all();
  };
  allow(400);  // it notices the pause at its next write of the progress
  const BulkJobs::Progress paused = end_of(jobs, **id);
  EXPECT_EQ(paused.state, BulkJobs::State::paused);
  EXPECT_LT(paused.position(), 400u);
  ASSERT_TRUE(jobs.resume(**id));
  const BulkJobs::Progress end = end_of(jobs, **id);
  EXPECT_EQ(end.state, BulkJobs::State::finished);
  EXPECT_EQ(end.done, 399u);
  ASSERT_EQ(end.failures.size(), 1u);
  EXPECT_EQ(end.failures[0].instance.value, "i6");
}

}  // namespace
}  // namespace cairn::api
