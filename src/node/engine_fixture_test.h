// An engine on a store, with a clock that the test moves, and the definitions that its tests share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "cairn/engine.h"
#include "engine/core.h"

namespace cairn::node {

inline constexpr const char* review = R"(
cairn: 1
name: review
version: 1.0.0
input: { type: object, required: [amount], properties: { amount: { type: number } } }
reference: { key: = input.no }
state: { amount: = input.amount }
steps:
  - task:
      name: Review
      roles: [clerk]
      exclude: [mallory]
      form: { type: object, required: [ok] }
      result: review
output: { ok: = state.review.ok, amount: = state.amount }
)";

inline constexpr const char* sleeper = R"(
cairn: 1
name: sleeper
version: 1.0.0
steps:
  - wait: 1h
  - set: { woken: true }
  - wait: 30m
output: { woken: = state.woken }
)";

inline constexpr const char* listener = R"(
cairn: 1
name: listener
version: 1.0.0
steps:
  - signal: { name: paid, key: = input.no, result: payment }
output: = state.payment
)";

inline constexpr const char* counter = R"(
cairn: 1
name: counter
version: 1.0.0
state: { sum: 0 }
steps:
  - repeat:
      times: 40
      steps:
        - signal: { name: add, result: last }
        - set: { sum: = state.sum + state.last }
output: = state.sum
)";

inline constexpr const char* doubler = R"(
cairn: 1
name: doubler
version: 1.0.0
steps:
  - set: { twice: = input.n * 2 }
output: = state.twice
)";

inline constexpr const char* parent = R"(
cairn: 1
name: parent
version: 1.0.0
steps:
  - subworkflow: { name: doubler, input: { n: = input.n }, result: a }
  - subworkflow: { name: review, input: { amount: = state.a, no: P }, result: b }
output: { a: = state.a, b: = state.b }
)";

inline constexpr const char* caller = R"(
cairn: 1
name: caller
version: 1.0.0
steps:
  - id: charge
    call:
      worker: { type: billing.charge.v1, payload: { amount: = input.amount } }
      retry: { attempts: 3, backoff: 1s }
      result: receipt
output: = state.receipt
)";

inline constexpr const char* divider = R"(
cairn: 1
name: divider
version: 1.0.0
state: { by: = input.by }
steps:
  - id: divide
    set: { result: = 10 / state.by }
output: = state.result
)";

inline constexpr const char* stepper = R"(
cairn: 1
name: stepper
version: 1.0.0
checkpoint: step
steps:
  - set: { a: 1 }
  - set: { b: = state.a + 1 }
  - set: { c: = state.b + 1 }
output: = state.c
)";

// On each kind of store; instantiated in engine_test.cc.
class EngineOnAStore : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) +
              "cairn_engine_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    open();
  }
  void TearDown() override {
    engine_.reset();
    std::filesystem::remove_all(folder_);
  }

  bool on_disk() const { return std::string(GetParam()) == "sqlite"; }

  void open() {
    engine_.reset();
    EngineOptions options;
    options.store = on_disk() ? "sqlite:" + folder_ + "/store.db" : "memory:";
    options.clock = &clock_;
    auto opened = Engine::open(options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    engine_ = std::move(*opened);
    if (handler_) engine_->handle("billing.charge.v1", handler_);
  }
  // Drops everything in memory; only the file remains.
  void restart() {
    if (on_disk()) open();
  }
  void deploy(const char* text) {
    auto done = engine_->deploy(text);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  InstanceAnswer start(const std::string& definition, Json input = Json::object()) {
    StartRequest request;
    request.definition = definition;
    request.input = std::move(input);
    auto started = engine_->start(request);
    EXPECT_TRUE(started.has_value()) << (started ? "" : started.error().message);
    return started ? *started : InstanceAnswer{};
  }
  InstanceAnswer now(const InstanceId& id) {
    auto found = engine_->find(id);
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    return found ? *found : InstanceAnswer{};
  }
  TaskId only_task() {
    auto tasks = engine_->tasks();
    EXPECT_TRUE(tasks.has_value() && tasks->size() == 1)
        << (tasks ? std::to_string(tasks->size()) : tasks.error().message);
    return tasks && tasks->size() == 1 ? tasks->front().id : TaskId{};
  }
  void pass(Duration by) {
    clock_.advance(by);
    engine_->run_until_idle();
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  std::string folder_;
  std::unique_ptr<Engine> engine_;
  WorkHandler handler_;
};

inline const Actor ann{"ann", std::vector<std::string>{"clerk"}};
inline const Json approval = Json::object({{"ok", true}});

}  // namespace cairn::node
