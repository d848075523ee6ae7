// Commits with a later sync, and a power failure at any moment. Everything synced or read exists afterwards. Of the
// other commits a prefix exists: never a commit without its predecessors.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "base/clock.h"
#include "base/process_end.h"
#include "disk.h"
#include "store/open.h"

namespace cairn::sim {
namespace {

Unit keyed(const std::string& key, std::size_t size) {
  Unit unit;
  unit.key = IdempotencyKey{"test", key, "hash", Json(std::string(size, 'x'))};
  return unit;
}

class Life {
 public:
  Life(std::uint64_t seed, const std::string& path) : dice_(seed), path_(path), disk_(seed, clock_) {
    disk_.mount([](Fault) { return false; }, [] {});
  }

  // From one start to the power failure that ends it.
  void live() {
    auto opened = open_store("sqlite:" + path_, clock_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
    take_stock();
    const int actions = dice_.between(1, 60);
    for (int i = 0; i < actions && !testing::Test::HasFailure(); ++i) act();
    disk_.crash(true);
    // A dead process runs no destructor, and holds no lock.
    dead_.push_back(std::move(store_));
    std::filesystem::remove(path_ + ".lock");
  }
  int lost() const { return lost_; }

 private:
  void take_stock() {
    std::size_t there = 0;
    while (there < order_.size() && present(order_[there])) ++there;
    for (std::size_t i = there; i < order_.size(); ++i) {
      EXPECT_FALSE(present(order_[i])) << order_[i] << " is there without " << order_[there];
    }
    EXPECT_GE(there, certain_) << "of " << order_.size();
    EXPECT_TRUE(ends_.contains(there)) << "half a commit: " << there;
    lost_ += static_cast<int>(order_.size() - there);
    order_.resize(there);
    certain_ = there;
  }
  bool present(const std::string& key) { return store_->find_key("test", key)->has_value(); }

  std::vector<Unit> some(int least, int most) {
    std::vector<Unit> units;
    for (int count = dice_.between(least, most); count > 0; --count) {
      const std::string key = std::to_string(++last_);
      units.push_back(keyed(key, static_cast<std::size_t>(dice_.between(10, 60'000))));
      order_.push_back(key);
    }
    return units;
  }

  void act() {
    const int what = dice_.below(100);
    if (what < 70) {
      const std::vector<Unit> first = some(1, 6);
      std::vector<Unit> more;
      bool asked = false;
      const auto outcomes = store_->commit_unsynced(first, [&]() -> std::span<const Unit> {
        if (std::exchange(asked, true)) return {};
        more = some(0, 3);
        return more;
      });
      ASSERT_TRUE(outcomes.has_value());
      for (const CommitOutcome& outcome : *outcomes) EXPECT_EQ(outcome.kind, CommitOutcome::Kind::done);
      ends_.insert(order_.size());
      return;
    }
    if (what < 85) {
      store_->sync();
    } else if (what < 90) {
      present("1");
    } else if (what < 95) {
      ASSERT_TRUE(store_->commit(some(1, 3)).has_value());
      ends_.insert(order_.size());
    } else {
      store_->sync();
      store_->release_caches();  // a checkpoint: the next commit may begin the log anew
    }
    certain_ = order_.size();
  }

  Dice dice_;
  SystemClock clock_;
  std::string path_;
  Disk disk_;
  std::unique_ptr<Store> store_;
  std::vector<std::unique_ptr<Store>> dead_;
  std::vector<std::string> order_;  // of all commits that may be there
  std::set<std::size_t> ends_{0};   // how many there were after each commit
  std::size_t certain_ = 0;
  int last_ = 0;
  int lost_ = 0;
};

TEST(Power, WhatWasSyncedStays) {
  const std::string folder = testing::TempDir() + "cairn_power_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Life life(seed, folder + "/store-" + std::to_string(seed) + ".db");
    for (int i = 0; i < 4 && !HasFailure(); ++i) life.live();
    lost += life.lost();
  }
  EXPECT_GT(lost, 0) << "no power failure ever took anything";
  std::filesystem::remove_all(folder);
}

// The kernel forgets pages whose sync failed, so that another try succeeds and has written nothing.
TEST(Power, AFailedSyncIsNotTriedAgain) {
  struct Ended {};
  const std::string folder = testing::TempDir() + "cairn_power_sync_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  SystemClock clock;
  Disk disk(1, clock);
  bool fails = false;
  disk.mount([&](Fault fault) { return fails && fault == Fault::sync_error; }, [] {});
  set_process_end([](int) { throw Ended{}; });
  auto store = open_store("sqlite:" + folder + "/store.db", clock);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  const std::vector<Unit> units{keyed("a", 10)};
  ASSERT_TRUE((*store)->commit_unsynced(units, [] { return std::span<const Unit>(); }).has_value());
  fails = true;
  EXPECT_THROW((*store)->sync(), Ended);
  fails = false;
  EXPECT_THROW((*store)->sync(), Ended) << "the disk says that all is well now";
  set_process_end({});
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace cairn::sim
