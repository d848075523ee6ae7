#include "engine/commit/commit_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <set>

#include "base/clock.h"
#include "base/limit_refusals.h"
#include "store/open.h"
#include "stores/forwarding_store.h"
#include "stores/held_store.h"

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
    queue.submit(keyed(std::to_string(i)), [&, i](Result<CommitOutcome> outcome, const Unit&) {
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
    queue.submit(keyed(repeat ? "taken" : std::to_string(i)), [&, repeat](Result<CommitOutcome> outcome, const Unit&) {
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
    queue.submit(keyed(std::to_string(i)),
                 [&](Result<CommitOutcome> outcome, const Unit&) { done += outcome ? 1 : 0; });
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
    queue.submit(keyed(key), [&](Result<CommitOutcome> outcome, const Unit&) { answered += outcome ? 1 : 0; });
  }
  EXPECT_EQ(answered, 0);
  ASSERT_TRUE(queue.commit(keyed("d")));
  EXPECT_EQ(answered, 3);
}

TEST_F(CommitQueueTest, WithoutThreadsWhatIsQueuedWhenItStopsIsStillWritten) {
  CommitQueue queue(*store_, [] {});
  bool answered = false;
  queue.submit(keyed("a"), [&](Result<CommitOutcome> outcome, const Unit&) { answered = outcome.has_value(); });
  queue.stop();
  EXPECT_TRUE(answered);
}

// Has two writers. Each commit waits until `let_go`.
class SlowStore final : public ForwardingStore {
 public:
  explicit SlowStore(Store& behind) : ForwardingStore(behind) { traits_.writers = 2; }
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    {
      std::unique_lock lock(mutex_);
      const std::size_t place = sizes_.size();
      sizes_.push_back(units.size());
      changed_.notify_all();
      changed_.wait(lock, [&] { return let_go_.contains(place); });
    }
    return ForwardingStore::commit(units);
  }
  // The sizes of the commits that have begun, once there are so many.
  std::vector<std::size_t> begun(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return sizes_.size() >= count; });
    return sizes_;
  }
  void let_go(std::size_t place) {
    const std::lock_guard lock(mutex_);
    let_go_.insert(place);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> sizes_;
  std::set<std::size_t> let_go_;
};

TEST_F(CommitQueueTest, ASecondCommitBeginsBesideTheFirstOnceItIsAsLarge) {
  using Sizes = std::vector<std::size_t>;
  SlowStore store(*store_);
  CommitQueue queue(store);
  std::latch second(2), all(8);
  int next = 0;
  const auto submit = [&](int count) {
    for (int i = 0; i < count; ++i) {
      queue.submit(keyed(std::to_string(next)), [&, place = next](const Result<CommitOutcome>&, const Unit&) {
        if (place < 2) second.count_down();
        all.count_down();
      });
      ++next;
    }
  };
  submit(1);
  EXPECT_EQ(store.begun(1), Sizes({1}));
  submit(1);
  EXPECT_EQ(store.begun(2), Sizes({1, 1}));
  submit(3);
  store.let_go(0);
  EXPECT_EQ(store.begun(3), Sizes({1, 1, 3}));
  store.let_go(1);
  second.wait();
  submit(2);  // one writer is idle, but the running commit has three units
  submit(1);
  EXPECT_EQ(store.begun(4), Sizes({1, 1, 3, 3}));
  store.let_go(2);
  store.let_go(3);
  all.wait();
}

// Its disk is busy until `let_go`.
class AheadStore final : public ForwardingStore {
 public:
  explicit AheadStore(Store& behind) : ForwardingStore(behind) { traits_.commits_unsynced = true; }
  Result<std::vector<CommitOutcome>> commit_unsynced(std::span<const Unit> units, const MoreUnits& more) override {
    std::vector<CommitOutcome> outcomes;
    for (; !units.empty(); units = more()) {
      const auto written = ForwardingStore::commit(units);
      outcomes.insert(outcomes.end(), written->begin(), written->end());
      const std::lock_guard lock(mutex_);
      parts_.push_back(units.size());
      changed_.notify_all();
    }
    return outcomes;
  }
  void sync() override {
    std::unique_lock lock(mutex_);
    const std::size_t place = syncing_++;
    changed_.notify_all();
    changed_.wait(lock, [&] { return place < let_go_; });
  }
  // The sizes of what was worked on, once there is so much.
  std::vector<std::size_t> worked_on(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return parts_.size() >= count; });
    return parts_;
  }
  void wait_for_syncs(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return syncing_ >= count; });
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    ++let_go_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::size_t> parts_;
  std::size_t syncing_ = 0;
  std::size_t let_go_ = 0;
};

TEST_F(CommitQueueTest, WhatComesWhileTheDiskIsBusyIsWorkedOnAndNobodyIsToldBefore) {
  using Sizes = std::vector<std::size_t>;
  AheadStore store(*store_);
  CommitQueue queue(store);
  std::atomic<int> answered = 0;
  std::latch first(6), all(12);
  const auto units = [](const std::string& name, int count) {
    std::vector<Unit> made;
    for (int i = 0; i < count; ++i) made.push_back(keyed(name + std::to_string(i)));
    return made;
  };
  const auto count = [&](std::latch* also) {
    return [&, also](std::size_t, const Result<CommitOutcome>& outcome) {
      if (outcome && outcome->kind == CommitOutcome::Kind::done) ++answered;
      if (also != nullptr) also->count_down();
      all.count_down();
    };
  };
  queue.submit_all(units("a", 6), count(&first));
  store.wait_for_syncs(1);
  queue.submit_all(units("b", 5), count(nullptr));
  EXPECT_EQ(store.worked_on(2), Sizes({6, 5}));
  queue.submit_all(units("c", 1), count(nullptr));
  EXPECT_EQ(store.worked_on(3), Sizes({6, 5, 1}));
  EXPECT_EQ(answered, 0);
  store.let_go();
  first.wait();
  store.wait_for_syncs(2);
  EXPECT_EQ(answered, 6) << "the others are written and not synced";
  store.let_go();
  all.wait();
  EXPECT_EQ(answered, 12);
}

// Reports that it released its caches.
class RestingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  void release_caches() override {
    ForwardingStore::release_caches();
    rested.count_down();
  }
  std::latch rested{1};
};

TEST_F(CommitQueueTest, AStoreThatNobodyWritesToIsLetRest) {
  RestingStore store(*store_);
  CommitQueue queue(store, {}, std::chrono::milliseconds(1));
  ASSERT_TRUE(queue.commit(keyed("a")));
  store.rested.wait();
  EXPECT_TRUE(queue.commit(keyed("b")));
}

TEST_F(CommitQueueTest, TellsForHowLongNothingWasWritten) {
  HeldStore held(*store_);
  CommitQueue queue(held);
  EXPECT_EQ(queue.stalled_for().count(), 0) << "nothing is queued";
  std::latch answered(1);
  queue.submit(keyed("a"), [&](const Result<CommitOutcome>&, const Unit&) { answered.count_down(); });
  while (queue.stalled_for() < std::chrono::milliseconds(2)) std::this_thread::yield();
  held.gate.count_down();
  answered.wait();
  while (queue.stalled_for().count() != 0) std::this_thread::yield();
}

// Holds its commits, with the traits that a test wants.
class HeldStoreWith final : public ForwardingStore {
 public:
  HeldStoreWith(Store& behind, bool shared, std::size_t writers) : ForwardingStore(behind) {
    traits_.shared = shared;
    traits_.writers = writers;
  }
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    began.count_down();
    gate.wait();
    return ForwardingStore::commit(units);
  }
  std::latch began{1}, gate{1};
};

// The database is a server elsewhere if the store is shared. The number of writers does not matter
// (postgres://...?writers=1).
TEST_F(CommitQueueTest, ACommitThatWaitsForASharedStoreIsNoStallOfThisProcess) {
  HeldStoreWith held(*store_, true, 1);
  CommitQueue queue(held);
  std::latch answered(1);
  queue.submit(keyed("a"), [&](const Result<CommitOutcome>&, const Unit&) { answered.count_down(); });
  held.began.wait();
  const auto from = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < from + std::chrono::milliseconds(2)) {
    ASSERT_EQ(queue.stalled_for().count(), 0);
  }
  held.gate.count_down();
  answered.wait();
}

TEST_F(CommitQueueTest, ACommitOfALocalStoreWithTwoWritersIsAStall) {
  HeldStoreWith held(*store_, false, 2);
  CommitQueue queue(held);
  std::latch answered(1);
  queue.submit(keyed("a"), [&](const Result<CommitOutcome>&, const Unit&) { answered.count_down(); });
  while (queue.stalled_for() < std::chrono::milliseconds(2)) std::this_thread::yield();
  held.gate.count_down();
  answered.wait();
}

// Overload is temporary: the caller may retry.
TEST_F(CommitQueueTest, RefusesWhatItHasNoRoomForAsUnavailable) {
  HeldStore held(*store_);
  std::atomic<std::size_t> refused = 0;
  std::atomic<std::size_t> wrong = 0;
  {
    CommitQueue queue(held);
    // Two batches may be on their way to the writer.
    for (std::size_t i = 0; i < Limits().commits_waiting_max + 2 * UnitBacklog::batch_max + 1; ++i) {
      queue.submit({}, [&](const Result<CommitOutcome>& outcome, const Unit&) {
        if (outcome) return;
        ++refused;
        const auto limit = limit_of(outcome.error());
        if (outcome.error().code != ErrorCode::unavailable || !limit || limit->limit != "limits.commits_waiting_max")
          ++wrong;
      });
    }
    held.gate.count_down();
  }
  EXPECT_GT(refused, 0u);
  EXPECT_EQ(wrong, 0u);
}

// As a store that several writers use. Counts commits.
class SeveralWriters final : public ForwardingStore {
 public:
  SeveralWriters(Store& behind, int writers) : ForwardingStore(behind) {
    traits_.writers = static_cast<std::size_t>(writers);
  }
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    auto outcomes = ForwardingStore::commit(units);
    ++commits;
    return outcomes;
  }
  std::atomic<int> commits = 0;
};

// Every writer waits for room in the line of answers. When the answers continue, each batch is answered, even if no
// further batch follows. With many writers, those that get room fill the line again before the others are woken.
TEST_F(CommitQueueTest, NoAnswerIsLeftBehindWithSeveralWriters) {
  constexpr int rounds = 100;
  constexpr int units = 16;  // more than a writer answers itself
  for (const int writers : {2, 8}) {
    SeveralWriters store(*store_, writers);
    const int parts = 1 + 4 + writers;  // one is being answered, the line is full, and each writer has one more
    for (int round = 0; round < rounds; ++round) {
      auto queue = std::make_unique<CommitQueue>(store);
      std::latch gate(1);
      std::atomic<int> answered = 0;
      for (int part = 0; part < parts; ++part) {
        const int before = store.commits;
        queue->submit_all(std::vector<Unit>(units), [&](std::size_t, const Result<CommitOutcome>&) {
          gate.wait();
          ++answered;
        });
        while (store.commits == before) std::this_thread::yield();
      }
      gate.count_down();
      const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (answered < parts * units && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
      ASSERT_EQ(answered, parts * units) << writers << " writers, round " << round;
    }
  }
}

using CommitQueueDeathTest = CommitQueueTest;

TEST_F(CommitQueueDeathTest, AnAnswerThatCallsTheStoreEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto call_the_store = [this] {
    CommitQueue queue(*store_);
    std::latch answered(1);
    queue.submit(keyed("a"), [&](const Result<CommitOutcome>&, const Unit&) {
      static_cast<void>(store_->find_key("test", "a"));
      answered.count_down();
    });
    answered.wait();
  };
  EXPECT_DEATH(call_the_store(), "StoreCallsForbidden");
}

}  // namespace
}  // namespace cairn
