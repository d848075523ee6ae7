#include "http/request_threads.h"

#include <gtest/gtest.h>

#include <latch>

namespace cairn::http {
namespace {

// Each job waits for all others: one job without a thread would block the rest for ever.
TEST(RequestThreads, AsManyJobsAsThereAreThreadsRunAtOnce) {
  constexpr std::ptrdiff_t count = RequestThreads::threads_usual;
  std::latch all_begun(count);
  std::latch all_done(count);
  RequestThreads threads;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    ASSERT_TRUE(threads.submit([&] {
      all_begun.arrive_and_wait();
      all_done.count_down();
    }));
  }
  all_done.wait();
}

TEST(RequestThreads, AJobFromAJobFindsAThreadWhileItsOwnWaits) {
  constexpr int rounds = 1'000;
  RequestThreads threads;
  for (int i = 0; i < rounds; ++i) {
    std::latch inner(1);
    std::latch outer(1);
    ASSERT_TRUE(threads.submit([&] {
      ASSERT_TRUE(threads.submit([&] { inner.count_down(); }));
      inner.wait();
      outer.count_down();
    }));
    outer.wait();
  }
}

TEST(RequestThreads, WhatWasTakenIsDoneBeforeItEnds) {
  constexpr int count = 500;
  std::atomic<int> done = 0;
  {
    RequestThreads threads;
    for (int i = 0; i < count; ++i) ASSERT_TRUE(threads.submit([&] { ++done; }));
  }
  EXPECT_EQ(done, count);
}

}  // namespace
}  // namespace cairn::http
