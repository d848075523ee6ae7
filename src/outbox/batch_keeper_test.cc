#include "outbox/batch_keeper.h"

#include <gtest/gtest.h>

#include "outbox/dispatcher.h"
#include "outbox/subscriber.h"
#include "store/memory/memory_store.h"

namespace cairn {
namespace {

constexpr Duration lock_length = Duration::of_ms(30);
constexpr Duration hold = Duration::of_ms(40);

// Records when claims are extended.
class WatchedStore : public MemoryStore {
 public:
  using MemoryStore::MemoryStore;

  Result<void> hold_outbox(const std::string& sink, std::span<const std::int64_t> sequences, Duration length) override {
    auto done = MemoryStore::hold_outbox(sink, sequences, length);
    const std::lock_guard lock(mutex_);
    ++extended_;
    changed_.notify_all();
    return done;
  }
  Result<std::optional<HostLock>> hold_lock(const std::string& name, const std::string& owner,
                                            Duration length) override {
    std::unique_lock still(still_, std::defer_lock);
    if (owner == "first") still.lock();
    auto held = MemoryStore::hold_lock(name, owner, length);
    const std::lock_guard lock(mutex_);
    refused_ |= held && !*held;
    changed_.notify_all();
    return held;
  }
  // While this is held, the requests of "first" block.
  std::unique_lock<std::mutex> stand_still() { return std::unique_lock(still_); }
  bool wait_until_refused() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return refused_; });
  }
  // Waits for an extension that begins after this call.
  bool wait_until_extended() {
    std::unique_lock lock(mutex_);
    const int enough = extended_ + 2;
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] { return extended_ >= enough; });
  }
  int extended() {
    const std::lock_guard lock(mutex_);
    return extended_;
  }

 private:
  std::mutex still_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int extended_ = 0;
  bool refused_ = false;
};

class KeptBatch : public testing::Test {
 protected:
  void emit(const std::string& id) {
    Advance advance;
    advance.after.instance = {"i-" + id};
    advance.after.program = {"p", "1.0.0", std::string(64, 'a')};
    advance.after.state_version = 1;
    advance.outbox.push_back({{id}, "t", "s", Json(1)});
    Unit unit;
    unit.advances = {advance};
    ASSERT_EQ(store_.commit(std::span(&unit, 1))->front().kind, CommitOutcome::Kind::done);
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  WatchedStore store_{clock_};
  const SinkFilter sink_{"web"};
};

}  // namespace

TEST_F(KeptBatch, StaysWithItsDispatcherHoweverSlowItsSinkIs) {
  emit("a");
  bool second_was_locked_out = false, claims_were_kept = false;
  std::vector<std::unique_ptr<Sink>> sinks, others;
  others.push_back(std::make_unique<Subscriber>("web", std::vector<std::string>{}, "/test", [](const Json&) {
    ADD_FAILURE() << "delivered by two at once";
    return true;
  }));
  Dispatcher second(store_, std::move(others), {.owner = "second"});
  sinks.push_back(std::make_unique<Subscriber>("web", std::vector<std::string>{}, "/test", [&](const Json&) {
    for (int i = 0; i < 4; ++i) {
      clock_.advance(Duration::of_ms(20));
      EXPECT_TRUE(store_.wait_until_extended());
    }
    second_was_locked_out = second.dispatch()->locked_out;
    claims_were_kept = store_.claim_outbox({&sink_, 1}, {"web", 10, hold})->empty();
    return true;
  }));
  Dispatcher first(store_, std::move(sinks), {.owner = "first", .lock = lock_length, .hold = hold});
  EXPECT_EQ(first.dispatch()->published, 1u);
  EXPECT_TRUE(second_was_locked_out);
  EXPECT_TRUE(claims_were_kept);
}

TEST_F(KeptBatch, IsLeftAloneOnceAnotherHasTheLock) {
  const HostLock lock = **store_.hold_lock("outbox/web", "first", lock_length);
  clock_.advance(Duration::of_ms(31));
  ASSERT_TRUE(store_.hold_lock("outbox/web", "second", lock_length)->has_value());
  const BatchKeeper keeper(store_, lock, "web", {1}, {lock_length, hold});
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!keeper.lost() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(keeper.lost());
  EXPECT_EQ(store_.extended(), 0);
}

TEST_F(KeptBatch, OfWhoeverHasLostTheLockIsNotGivenFree) {
  emit("a");
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::make_unique<Subscriber>("web", std::vector<std::string>{}, "/test", [&](const Json&) {
    {
      // The process was paused: its lock and its claims have expired, and another node has both.
      const auto still = store_.stand_still();
      clock_.advance(Duration::of_ms(41));
      EXPECT_TRUE(store_.hold_lock("outbox/web", "second", Duration::of_seconds(15))->has_value());
      EXPECT_EQ(store_.claim_outbox({&sink_, 1}, {"web", 10, Duration::of_seconds(20)})->size(), 1u);
    }
    EXPECT_TRUE(store_.wait_until_refused());
    return false;
  }));
  Dispatcher first(store_, std::move(sinks), {.owner = "first", .lock = lock_length, .hold = hold});
  EXPECT_EQ(first.dispatch()->published, 0u);
  clock_.advance(Duration::of_seconds(10));
  EXPECT_TRUE(store_.claim_outbox({&sink_, 1}, {"web", 10, hold})->empty()) << "the other one is at it";
}

// A node died with a batch: its lock and its claims expire soon.
TEST_F(KeptBatch, OfADeadNodeIsFreeSoon) {
  emit("a");
  const DispatcherOptions usual;
  ASSERT_TRUE(store_.hold_lock("outbox/web", "dead", usual.lock)->has_value());
  ASSERT_EQ(store_.claim_outbox({&sink_, 1}, {"web", 10, usual.hold})->size(), 1u);
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(
      std::make_unique<Subscriber>("web", std::vector<std::string>{}, "/test", [](const Json&) { return true; }));
  Dispatcher next(store_, std::move(sinks), {.owner = "next"});
  EXPECT_TRUE(next.dispatch()->locked_out);
  clock_.advance(Duration::of_seconds(20));
  EXPECT_EQ(next.dispatch()->published, 1u);
}

}  // namespace cairn
