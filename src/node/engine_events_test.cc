// Events and schedules through the whole engine, on its own threads.
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/clock.h"
#include "cairn/engine.h"
#include "schedule/schedules.h"
#include "store/store.h"

namespace cairn {
namespace {

constexpr const char* shout =
    "cairn: 1\nname: shout\nversion: 1.0.0\nsteps:\n"
    "  - emit: { type: shout.heard, subject: = input.who, data: { loud: true } }\noutput: 1\n";

// Collects the received event types and waits for one.
class Ear {
 public:
  bool hear(const Json& event) {
    const std::lock_guard lock(mutex_);
    if (deaf_ > 0) {
      --deaf_;
      return false;
    }
    heard_ += std::string(event.text_or("type", "")) + " ";
    changed_.notify_all();
    return true;
  }
  void ignore(int times) { deaf_ = times; }
  bool wait_for(const std::string& type) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30),
                             [&] { return heard_.find(type + " ") != std::string::npos; });
  }
  std::string heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string heard_;
  int deaf_ = 0;
};

std::unique_ptr<Engine> engine_with(const Json& events, Clock* clock = nullptr) {
  EngineOptions options;
  options.events = events;
  options.clock = clock;
  auto engine = Engine::open(options);
  EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
  if (!engine) return nullptr;
  EXPECT_TRUE((*engine)->deploy(shout).has_value());
  return std::move(*engine);
}

StartRequest request() {
  StartRequest made;
  made.definition = "shout";
  made.input = Json::object({{"who", "ann"}});
  return made;
}

TEST(EngineEvents, OnlyWhatTheWorkflowSaysUnlessAskedForMore) {
  Ear ear;
  const auto engine = engine_with({});
  ASSERT_TRUE(engine->subscribe("ear", {}, [&](const Json& event) { return ear.hear(event); }).has_value());
  EXPECT_EQ(engine->subscribe("ear", {}, {}).error().code, ErrorCode::conflict);
  ASSERT_TRUE(engine->start(request()).has_value());
  engine->run_until_idle();
  EXPECT_EQ(ear.heard(), "shout.heard ");
}

TEST(EngineEvents, TheLifeCycleAroundIt) {
  Ear ear;
  const auto engine = engine_with(Json::object({{"keep", Json::array({Json("instances")})}}));
  ASSERT_TRUE(engine->subscribe("ear", {}, [&](const Json& event) { return ear.hear(event); }).has_value());
  ASSERT_TRUE(engine->start(request()).has_value());
  engine->run_until_idle();
  EXPECT_EQ(ear.heard(), "cairn.instance.started shout.heard cairn.instance.completed ");
}

TEST(EngineEvents, ARefusedOneComesAgainByItself) {
  Ear ear;
  ear.ignore(1);
  const auto engine = engine_with({});
  ASSERT_TRUE(engine->subscribe("ear", {"shout."}, [&](const Json& event) { return ear.hear(event); }).has_value());
  engine->run();
  ASSERT_TRUE(engine->start(request()).has_value());
  EXPECT_TRUE(ear.wait_for("shout.heard"));
}

TEST(EngineEvents, SettingsThatDoNotAddUpDoNotOpen) {
  EngineOptions options;
  options.events = Json::object({{"keep", Json::array({Json("all")})}});
  EXPECT_EQ(Engine::open(options).error().code, ErrorCode::invalid);
}

TEST(EngineEvents, AScheduleFiresOnTheLoop) {
  Ear ear;
  const auto engine = engine_with({});
  ASSERT_TRUE(engine->subscribe("ear", {}, [&](const Json& event) { return ear.hear(event); }).has_value());
  engine->run();
  const auto row = create_schedule(
      engine->core(), "often",
      Json::object({{"every", "1s"},
                    {"start", Json::object({{"definition", "shout"}, {"input", Json::object({{"who", "bob"}})}})}}),
      false);
  ASSERT_TRUE(row.has_value()) << row.error().message;
  EXPECT_TRUE(ear.wait_for("shout.heard"));
}

}  // namespace
}  // namespace cairn
