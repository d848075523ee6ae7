#include "runs/lease_waiters.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>

#include "base/clock.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn {
namespace {

constexpr std::chrono::seconds long_wait{60};

// Counts the lease queries. May answer more bytes than asked for, as a store may.
class AskedStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<RunRow>> lease_runs(const LeaseRequest& request) override {
    ++asked;
    LeaseRequest forwarded = request;
    if (ignores_bytes) forwarded.bytes_max = std::numeric_limits<std::size_t>::max();
    return ForwardingStore::lease_runs(forwarded);
  }
  std::atomic<int> asked = 0;
  bool ignores_bytes = false;
};

class LeaseWaitersTest : public testing::Test {
 protected:
  LeaseWaitersTest() {
    store_.watch([this](const Wakeup& wakeup) {
      if (wakeup.runs) waiters_.look();
    });
  }

  using Runs = std::vector<RunRow>;
  std::future<Runs> ask(const std::string& type, std::chrono::milliseconds wait, std::size_t max = 1,
                        LeaseWaiters::Listening listening = {},
                        std::size_t bytes_max = std::numeric_limits<std::size_t>::max()) {
    auto answered = std::make_shared<std::promise<Runs>>();
    LeaseRequest request{"w", {}, {type}, max, Duration::of_seconds(30), bytes_max};
    waiters_.ask(
        std::move(request), wait,
        [answered](Result<Runs> runs) { answered->set_value(runs ? std::move(*runs) : Runs(99)); },
        std::move(listening));
    return answered->get_future();
  }
  void submit(const std::string& id, const std::string& type, Json payload = Json()) {
    RunRow run;
    run.payload = std::move(payload);
    run.id = {id};
    run.type = type;
    ASSERT_TRUE(store_.submit_run(run));
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory_{clock_};
  AskedStore store_{memory_};
  LeaseWaiters waiters_{store_};
};

TEST_F(LeaseWaitersTest, GivesWhatIsThereAtOnce) {
  submit("a", "t");
  EXPECT_EQ(ask("t", long_wait).get().at(0).id.value, "a");
  EXPECT_TRUE(ask("t", std::chrono::milliseconds(0)).get().empty());
}

TEST_F(LeaseWaitersTest, WhoWaitsIsAnsweredWhenARunComes) {
  auto other = ask("other", long_wait);
  auto first = ask("t", long_wait);
  auto second = ask("t", long_wait);
  submit("a", "t");
  EXPECT_EQ(first.get().at(0).id.value, "a");
  submit("b", "t");
  EXPECT_EQ(second.get().at(0).id.value, "b");
  waiters_.stop();
  EXPECT_TRUE(other.get().empty());
}

TEST_F(LeaseWaitersTest, WhatDidNotReachItsWorkerIsForOthersAtOnce) {
  submit("a", "t");
  submit("b", "t");
  const Runs leased = ask("t", long_wait, 2).get();
  ASSERT_EQ(leased.size(), 2u);
  auto other = ask("t", long_wait, 2);
  waiters_.give_back(leased);
  EXPECT_EQ(other.get().at(0).attempt, 1) << "it does not count as an attempt";
}

TEST_F(LeaseWaitersTest, StoppingReleasesWhatWasGivenBack) {
  submit("a", "t");
  const Runs leased = ask("t", long_wait).get();
  waiters_.stop();
  waiters_.give_back(leased);
  waiters_.stop();
  EXPECT_EQ((*store_.find_run({"a"}))->status, RunStatus::pending);
}

TEST_F(LeaseWaitersTest, AnAnswerEndsAtItsBytes) {
  for (const char* const id : {"1", "2", "3", "4", "5"}) submit(id, "t", Json(std::string(10'000, 'x')));
  EXPECT_EQ(ask("t", {}, 5, {}, 20'000).get().size(), 2u);
  EXPECT_EQ(ask("t", {}, 5, {}, 1).get().size(), 1u) << "the first is always given";
  EXPECT_EQ(ask("t", {}, 5, {}, 1'000'000).get().size(), 2u);
  EXPECT_EQ(ask("t", {}, 5).get().size(), 0u);
}

TEST_F(LeaseWaitersTest, SmallRunsAreNotHeldBackByTheBytes) {
  for (int i = 0; i < 100; ++i) submit(std::to_string(i), "t");
  EXPECT_EQ(ask("t", {}, 60, {}, 8u << 20).get().size(), 60u);
  store_.asked = 0;
  EXPECT_EQ(ask("t", {}, 40, {}, 8u << 20).get().size(), 40u);
  EXPECT_EQ(store_.asked, 1) << "the size is known";
}

TEST_F(LeaseWaitersTest, WhatExceedsTheBytesIsForOthersAtOnce) {
  store_.ignores_bytes = true;
  for (const char* const id : {"1", "2", "3", "4"}) submit(id, "t", Json(std::string(10'000, 'x')));
  std::set<std::string> seen;
  while (seen.size() < 4) {
    const Runs runs = ask("t", long_wait, 4, {}, 20'000).get();
    ASSERT_FALSE(runs.empty());
    EXPECT_LE(runs.size(), 2u);
    for (const RunRow& run : runs) EXPECT_TRUE(seen.insert(run.id.value).second);
  }
}

TEST_F(LeaseWaitersTest, PromisedRunsEndAtTheBytesToo) {
  store_.ignores_bytes = true;
  auto first = ask("t", long_wait, 3, {}, 10'000);
  const std::vector<std::string> types = {"t", "t"};
  auto promise = waiters_.promise(types);
  ASSERT_TRUE(promise);
  for (const char* const id : {"1", "2"}) submit(id, "t", Json(std::string(10'000, 'x')));
  auto leased = *memory_.lease_runs({"w", {}, {"t"}, 2, Duration::of_seconds(30)});
  ASSERT_EQ(leased.size(), 2u);
  for (RunRow& run : leased) promise->keep(std::move(run));
  EXPECT_EQ(first.get().size(), 1u);
  EXPECT_EQ(ask("t", long_wait, 3).get().size(), 1u);
}

TEST_F(LeaseWaitersTest, AWaitEndsWithItsTime) { EXPECT_TRUE(ask("t", std::chrono::milliseconds(5)).get().empty()); }

TEST_F(LeaseWaitersTest, SoDoesOneThatComesWhileTheDeskSleeps) {
  EXPECT_TRUE(ask("t", std::chrono::milliseconds(5)).get().empty());
  // The store is known to be empty, so there is no query; the deadline must still be watched.
  auto again = ask("t", std::chrono::milliseconds(5));
  EXPECT_EQ(again.wait_for(long_wait), std::future_status::ready);
  auto patient = ask("t", long_wait);
  auto hasty = ask("t", std::chrono::milliseconds(5));
  EXPECT_EQ(hasty.wait_for(long_wait / 2), std::future_status::ready);
  EXPECT_EQ(patient.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(store_.asked, 1);
}

TEST_F(LeaseWaitersTest, WhoWaitsBehindARateIsServedInEachWindow) {
  RunTypeRow rule;
  rule.type = "t";
  rule.rate = 1;
  ASSERT_TRUE(store_.put_run_type(rule).has_value());
  std::optional<Timestamp> due;
  std::mutex mutex;
  store_.watch([&](const Wakeup& wakeup) {
    const std::lock_guard lock(mutex);
    if (wakeup.due) due = wakeup.due;
    if (wakeup.runs) waiters_.look();
  });
  std::future<Runs> waiting = ask("t", long_wait, 10);
  for (const char* const id : {"a", "b", "c"}) submit(id, "t");
  for (int window = 0; window < 3; ++window) {
    EXPECT_EQ(waiting.get().size(), 1u) << window;
    if (window == 2) break;
    waiting = ask("t", long_wait, 10);
    // LeaseWaiters must know when the window opens, or nothing would query the store then.
    const auto told = [&] {
      const std::lock_guard lock(mutex);
      return due && *due > clock_.now() && between(clock_.now(), *due) <= Duration::of_seconds(1);
    };
    for (int tries = 0; !told() && tries < 1'000'000; ++tries) std::this_thread::yield();
    ASSERT_TRUE(told()) << window;
    clock_.advance(Duration::of_seconds(1));
    waiters_.look();
  }
}

TEST_F(LeaseWaitersTest, NothingIsLeasedToSomebodyWhoHasGone) {
  std::atomic<bool> listening = true;
  auto gone = ask("t", long_wait, 1, [&] { return listening.load(); });
  listening = false;
  submit("a", "t");
  EXPECT_TRUE(gone.get().empty());
  EXPECT_EQ(store_.find_run({"a"})->value().status, RunStatus::pending);
}

TEST_F(LeaseWaitersTest, StoppingAnswersEverybodyAndLaterOnesAtOnce) {
  auto waiting = ask("t", long_wait);
  waiters_.stop();
  EXPECT_TRUE(waiting.get().empty());
  EXPECT_TRUE(ask("t", long_wait).get().empty());
}

TEST_F(LeaseWaitersTest, ManyWhoWaitGetOneEach) {
  std::vector<std::future<Runs>> waiting;
  for (int i = 0; i < 50; ++i) waiting.push_back(ask("t", long_wait));
  for (int i = 0; i < 50; ++i) submit("r" + std::to_string(i), "t");
  std::set<std::string> seen;
  for (auto& one : waiting) seen.insert(one.get().at(0).id.value);
  EXPECT_EQ(seen.size(), 50u);
}

TEST_F(LeaseWaitersTest, AStoreThatHasNothingIsNotAskedAgainBeforeSomethingComes) {
  std::vector<std::future<Runs>> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(ask("t", long_wait));
  EXPECT_EQ(store_.asked, 1) << "by the first one";
  submit("a", "t");
  EXPECT_EQ(waiting[0].get().at(0).id.value, "a");
  EXPECT_TRUE(ask("t", std::chrono::milliseconds(0)).get().empty()) << "who does not wait is told what the store says";
  waiters_.stop();
}

RunRow leased(const std::string& id) {
  RunRow run;
  run.id = {id};
  run.type = "t";
  run.status = RunStatus::leased;
  return run;
}

// While the internal thread queries the store, the line is empty.
std::shared_ptr<LeaseWaiters::Promise> promise_when_in_line(LeaseWaiters& waiters,
                                                            const std::vector<std::string>& types) {
  for (;;) {
    if (auto promise = waiters.promise(types)) return promise;
    std::this_thread::yield();
  }
}

TEST_F(LeaseWaitersTest, NewRunsArePromisedToWhoeverWaitsAndGivenTogether) {
  EXPECT_EQ(waiters_.promise(std::vector<std::string>{"t"}), nullptr);
  auto waiting = ask("t", long_wait, 2);
  const auto first = promise_when_in_line(waiters_, {"t"});
  EXPECT_EQ(first->lease().owner, "w");
  EXPECT_EQ(first->lease().types, std::vector<std::string>{"t"});
  const auto second = promise_when_in_line(waiters_, {"t"});
  EXPECT_EQ(waiters_.promise(std::vector<std::string>{"t"}), nullptr) << "it asked for two";
  EXPECT_EQ(waiters_.promise(std::vector<std::string>{"other"}), nullptr);
  first->keep(leased("a"));
  EXPECT_EQ(waiting.wait_for(std::chrono::seconds(0)), std::future_status::timeout) << "one is still to come";
  second->keep(leased("b"));
  const Runs runs = waiting.get();
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].id.value, "b");
}

TEST_F(LeaseWaitersTest, APromiseThatIsNotKeptLeavesThePlaceInTheLine) {
  auto waiting = ask("t", long_wait);
  promise_when_in_line(waiters_, {"t"}).reset();
  submit("a", "t");
  EXPECT_EQ(waiting.get().at(0).id.value, "a");
}

// A commit that makes a run ready calls `look`. It must not wait until a refused client has its answer.
TEST_F(LeaseWaitersTest, ARefusalBlocksNoOtherThread) {
  std::optional<std::future_status> looked;
  for (std::size_t i = 0; i < 2 * Limits().lease_waiters_max && !looked; ++i) {
    waiters_.ask({"w", {}, {"t"}, 1, Duration::of_seconds(30)}, long_wait, [&](const Result<Runs>& runs) {
      if (runs) return;
      const auto other = std::make_shared<std::promise<void>>();
      auto done = other->get_future();
      std::thread([this, other] {
        waiters_.look();
        other->set_value();
      }).detach();
      looked = done.wait_for(std::chrono::seconds(10));
    });
  }
  EXPECT_EQ(looked, std::future_status::ready);
  waiters_.stop();
}

TEST_F(LeaseWaitersTest, NobodyGoesHomeWhileSomethingIsPromised) {
  auto waiting = ask("t", std::chrono::milliseconds(1));
  auto promise = waiters_.promise(std::vector<std::string>{"t"});
  if (!promise) return;  // it expired before
  std::jthread stopping([this] { waiters_.stop(); });
  promise->keep(leased("a"));
  EXPECT_EQ(waiting.get().at(0).id.value, "a");
}

}  // namespace
}  // namespace cairn
