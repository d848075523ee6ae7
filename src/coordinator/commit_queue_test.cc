#include "coordinator/commit_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "base/clock.h"
#include "store/open.h"

namespace cairn {
namespace {

// A unit that is written without touching any instance.
Unit keyed(const std::string& key) {
  Unit unit;
  unit.key = IdempotencyKey{"test", key, "hash", Json(key)};
  return unit;
}

class CommitQueueTest : public testing::Test {
 protected:
  SystemClock clock_;
  std::unique_ptr<Store> store_ = std::move(*open_store("memory:", clock_));
};

TEST_F(CommitQueueTest, EveryUnitIsAnsweredOnceInLargeBatchesToo) {
  constexpr int count = 5000;
  std::vector<std::atomic<int>> answers(count);
  CommitQueue queue(*store_);
  std::latch all(count);
  for (int i = 0; i < count; ++i) {
    queue.submit(keyed(std::to_string(i)), [&, i](Result<CommitOutcome> outcome) {
      if (outcome && outcome->kind == CommitOutcome::Kind::done) ++answers[static_cast<std::size_t>(i)];
      all.count_down();
    });
  }
  all.wait();
  for (const auto& answer : answers) EXPECT_EQ(answer, 1);
}

TEST_F(CommitQueueTest, AnAnswerBelongsToItsUnit) {
  CommitQueue queue(*store_);
  ASSERT_EQ(queue.commit(keyed("taken"))->kind, CommitOutcome::Kind::done);
  constexpr int count = 600;
  std::atomic<int> duplicates = 0;
  std::atomic<int> wrong = 0;
  std::latch all(count);
  for (int i = 0; i < count; ++i) {
    const bool repeat = i % 3 == 0;
    queue.submit(keyed(repeat ? "taken" : std::to_string(i)), [&, repeat](Result<CommitOutcome> outcome) {
      const bool refused = outcome && outcome->kind == CommitOutcome::Kind::duplicate_key;
      if (refused) ++duplicates;
      if (refused != repeat) ++wrong;
      all.count_down();
    });
  }
  all.wait();
  EXPECT_EQ(duplicates, 200);
  EXPECT_EQ(wrong, 0);
}

TEST_F(CommitQueueTest, WhatIsQueuedWhenItStopsIsStillWrittenAndAnswered) {
  constexpr int count = 3000;
  std::atomic<int> done = 0;
  CommitQueue queue(*store_);
  for (int i = 0; i < count; ++i) {
    queue.submit(keyed(std::to_string(i)), [&](Result<CommitOutcome> outcome) { done += outcome ? 1 : 0; });
  }
  queue.stop();
  EXPECT_EQ(done, count);
  const auto late = queue.commit(keyed("late"));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
}

TEST_F(CommitQueueTest, WithoutThreadsWhoeverWaitsWritesWhatIsQueued) {
  CommitQueue queue(*store_, [] { ADD_FAILURE() << "there is nobody to wait for"; });
  int answered = 0;
  for (const char* key : {"a", "b", "c"}) {
    queue.submit(keyed(key), [&](Result<CommitOutcome> outcome) { answered += outcome ? 1 : 0; });
  }
  EXPECT_EQ(answered, 0);
  ASSERT_TRUE(queue.commit(keyed("d")));
  EXPECT_EQ(answered, 3);
}

TEST_F(CommitQueueTest, WithoutThreadsWhatIsQueuedWhenItStopsIsStillWritten) {
  CommitQueue queue(*store_, [] {});
  bool answered = false;
  queue.submit(keyed("a"), [&](Result<CommitOutcome> outcome) { answered = outcome.has_value(); });
  queue.stop();
  EXPECT_TRUE(answered);
}

}  // namespace
}  // namespace cairn
