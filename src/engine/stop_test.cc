// The core stops while requests arrive and wait.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/open.h"

namespace cairn {
namespace {

constexpr const char* endless = R"(
cairn: 1
name: endless
version: 1.0.0
state: { count: 0 }
steps:
  - repeat:
      while: = state.count >= 0
      max: 1000000000
      steps:
        - signal: { name: tick }
        - set: { count: = state.count + 1 }
)";

class StopTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    store_ = std::move(*open_store(std::string(GetParam()) == "memory" ? "memory:" : "sqlite:" + path_, clock_));
    core_ = std::move(*EngineCore::open(*store_, {}));
    ASSERT_TRUE(core_->registry().deploy(load_definition(endless, "test.yaml").program));
  }
  void TearDown() override {
    core_.reset();
    store_.reset();
    for (const char* const end : {"", "-wal", "-shm", ".lock"}) std::remove((path_ + end).c_str());
  }

  InstanceId start() {
    StartRequest request;
    request.definition = "endless";
    return core_->instances().start(std::move(request))->instance;
  }
  void tick(const InstanceId& id, Done<Result<InstanceAnswer>> done) {
    SignalRequest request;
    request.name = "tick";
    core_->instances().signal(id, std::move(request), std::move(done));
  }
  // The signals that the store has of an instance: applied, or kept by it.
  std::int64_t stored(const InstanceId& id) {
    const Snapshot snapshot = **store_->find_snapshot(id);
    return snapshot.state["count"].as_integer() + static_cast<std::int64_t>(snapshot.signals.size());
  }

  SystemClock clock_;
  const std::string path_ = testing::TempDir() + "cairn_stop_" + std::to_string(::getpid()) + ".db";
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
};

// All signals wait for one instance, so the last ones are refused one after the other by the threads that stop.
TEST_P(StopTest, EverySignalOfAWaitingBurstIsAnsweredBeforeStopReturns) {
  constexpr int count = 6'000;
  const InstanceId id = start();
  std::latch first(1);
  std::atomic<int> taken = 0, refused = 0, wrong = 0;
  for (int i = 0; i < count; ++i) {
    tick(id, [&, i](const Result<InstanceAnswer>& answer) {
      if (i == 0) first.count_down();
      ++(answer ? taken : refused);
      if (!answer && answer.error().code != ErrorCode::unavailable) ++wrong;
    });
  }
  first.wait();
  core_->stop();
  EXPECT_EQ(taken + refused, count);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(stored(id), taken) << "every accepted signal is stored, and no refused one";
}

// Each answer sends the next signal from its own thread, until the core refuses one.
TEST_P(StopTest, SignalsThatArriveWhileTheCoreStopsAreTakenOrRefused) {
  constexpr int chains_per_instance = 8, answers_before = 400;
  const std::vector<InstanceId> ids = {start(), start(), start()};
  std::latch busy(answers_before);
  std::atomic<int> answers = 0, taken = 0, ended = 0, wrong = 0;
  std::function<void(const InstanceId&)> send = [&](const InstanceId& id) {
    tick(id, [&](const Result<InstanceAnswer>& answer) {
      if (answers++ < answers_before) busy.count_down();
      if (answer) {
        ++taken;
        return send(answer->instance);
      }
      if (answer.error().code != ErrorCode::unavailable) ++wrong;
      ++ended;
    });
  };
  std::vector<std::jthread> clients;
  for (const InstanceId& id : ids) {
    clients.emplace_back([&] {
      for (int i = 0; i < chains_per_instance; ++i) send(id);
    });
  }
  clients.clear();
  busy.wait();
  core_->stop();
  EXPECT_EQ(ended, chains_per_instance * static_cast<int>(ids.size()));
  EXPECT_EQ(wrong, 0);
  std::int64_t found = 0;
  for (const InstanceId& id : ids) found += stored(id);
  EXPECT_EQ(found, taken);
}

INSTANTIATE_TEST_SUITE_P(Stores, StopTest, testing::Values("memory", "sqlite"));

}  // namespace
}  // namespace cairn
