#include "engine/deferred_work.h"

#include <gtest/gtest.h>

#include <barrier>
#include <future>
#include <latch>

namespace cairn {
namespace {

constexpr DeferredWork::Bounds few{.threads_max = 4, .waiting_max = 10};

// Each group of tasks can end only if all of them run at the same time.
TEST(DeferredWork, AsManyTasksRunAtOnceAsThereMayBeThreads) {
  DeferredWork work(true, few);
  for (int round = 0; round < 200; ++round) {
    const auto together = std::make_shared<std::barrier<>>(static_cast<std::ptrdiff_t>(few.threads_max));
    const auto ended = std::make_shared<std::promise<void>>();
    const auto left = std::make_shared<std::atomic<std::size_t>>(few.threads_max);
    for (std::size_t i = 0; i < few.threads_max; ++i) {
      work.post([together, ended, left] {
        together->arrive_and_wait();
        if (--*left == 0) ended->set_value();
      });
    }
    if (ended->get_future().wait_for(std::chrono::seconds(30)) == std::future_status::ready) continue;
    ADD_FAILURE() << "round " << round << ": a task waits for a busy thread";
    // Lets the tasks end, so that the threads can stop.
    for (std::size_t i = 0; i < few.threads_max; ++i) together->arrive_and_drop();
    break;
  }
}

TEST(DeferredWork, ASlowTaskDoesNotDelayTheNext) {
  DeferredWork work(true, few);
  std::latch slow_begins(1), gate(1);
  std::promise<void> done;
  work.post([&] {
    slow_begins.count_down();
    gate.wait();
  });
  slow_begins.wait();
  work.post([&] { done.set_value(); });
  EXPECT_EQ(done.get_future().wait_for(std::chrono::seconds(30)), std::future_status::ready);
  gate.count_down();
  work.stop();
}

TEST(DeferredWork, IsFullWhileTooManyTasksWait) {
  DeferredWork work(true, few);
  std::latch busy(static_cast<std::ptrdiff_t>(few.threads_max)), gate(1);
  std::atomic<std::size_t> ended = 0;
  for (std::size_t i = 0; i < few.threads_max; ++i) {
    work.post([&] {
      busy.count_down();
      gate.wait();
      ++ended;
    });
  }
  busy.wait();
  for (std::size_t i = 0; i < few.waiting_max; ++i) {
    EXPECT_FALSE(work.is_full());
    work.post([&] { ++ended; });
  }
  EXPECT_TRUE(work.is_full());
  work.post([&] { ++ended; });  // of a request that was accepted before
  gate.count_down();
  work.stop();
  EXPECT_FALSE(work.is_full());
  EXPECT_EQ(ended, few.threads_max + few.waiting_max + 1);
}

TEST(DeferredWork, TasksPostOthersAlsoAfterTheStop) {
  DeferredWork work(true, few);
  std::atomic<int> left = 1'000;
  std::function<void()> next = [&] {
    if (--left > 0) work.post(next);
  };
  work.post(next);
  work.stop();
  EXPECT_EQ(left, 0);
  left = 100'000;  // more than fit on a stack
  work.post(next);
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace cairn
