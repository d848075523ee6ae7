#include "schedule/schedules.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "definition/definition.h"
#include "store/memory/memory_store.h"
#include "stores/held_store.h"

namespace cairn {
namespace {

constexpr const char* quick =
    "cairn: 1\nname: quick\nversion: 1.0.0\nsteps:\n  - set: { seen: '= input.n' }\noutput: '= state.seen'\n";
constexpr const char* slow = "cairn: 1\nname: slow\nversion: 1.0.0\nsteps:\n  - signal: { name: go }\n";

Timestamp at(std::string_view text) { return *parse_timestamp(text); }

class SchedulesOnAnEngine : public testing::Test {
 protected:
  void SetUp() override {
    CoreOptions options;
    options.config = Json::object({{"site", "north"}});
    auto opened = EngineCore::open(store_, options);
    ASSERT_TRUE(opened.has_value());
    core_ = std::move(*opened);
    attach_schedules(*core_);
    put(quick);
    put(slow);
  }
  void put(const std::string& text) {
    const Definition definition = load_definition(text, "test.yaml");
    ASSERT_TRUE(definition.valid()) << format_diagnostic("test.yaml", definition.diagnostics.front());
    const auto done = deploy(*core_, definition.program);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  Json spec(std::string_view definition, std::string_view overlap = "skip") {
    return Json::object({{"every", "1m"},
                         {"overlap", overlap},
                         {"start", Json::object({{"definition", definition}, {"input", Json::object({{"n", 7}})}})}});
  }
  ScheduleRow create(const std::string& name, const Json& given) {
    auto row = create_schedule(*core_, name, given, false);
    EXPECT_TRUE(row.has_value()) << (row ? "" : row.error().message);
    return row ? *row : ScheduleRow();
  }
  ScheduleRow row(const std::string& name) { return store_.find_schedule(name)->value_or(ScheduleRow()); }
  void pass(std::int64_t seconds) {
    for (std::int64_t left = seconds; left > 0; left -= 30) {
      clock_.advance(Duration::of_seconds(std::min<std::int64_t>(left, 30)));
      run_until_idle(*core_);
    }
  }
  std::string instances() {
    std::string list;
    const auto rows = store_.list_instances({}, {100, ""});
    for (auto one = rows->items.rbegin(); one != rows->items.rend(); ++one) {
      list += one->id.value + " " + to_string(one->status) + "\n";
    }
    return list;
  }

  ManualClock clock_{at("2024-01-01T00:00:00Z")};
  MemoryStore store_{clock_};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(SchedulesOnAnEngine, StartInstancesNamedAfterTheirTime) {
  EXPECT_EQ(create("tick", spec("quick")).next_at, at("2024-01-01T00:01:00Z"));
  EXPECT_EQ(*store_.next_due(), at("2024-01-01T00:01:00Z"));
  pass(120);
  EXPECT_EQ(instances(), "tick@2024-01-01T00:01:00Z completed\ntick@2024-01-01T00:02:00Z completed\n");
  EXPECT_EQ(store_.find_snapshot({"tick@2024-01-01T00:01:00Z"})->value().output, Json(7));
  EXPECT_EQ(row("tick").last["instance"], Json("tick@2024-01-01T00:02:00Z"));
  EXPECT_EQ(row("tick").next_at, at("2024-01-01T00:03:00Z"));
}

TEST_F(SchedulesOnAnEngine, AFiringThatWasCutShortIsNotRepeated) {
  create("tick", spec("quick"));
  clock_.advance(Duration::of_seconds(60));
  const ScheduleRow before = row("tick");
  EXPECT_EQ(fire_schedules(*core_), 1u);
  // As if the process had died before the row moved on.
  ScheduleRow again = row("tick");
  again.next_at = before.next_at;
  again.last_at = before.last_at;
  again.last = before.last;
  ASSERT_EQ(*store_.put_schedule(again), PutSchedule::done);
  EXPECT_EQ(fire_schedules(*core_), 1u);
  EXPECT_EQ(instances(), "tick@2024-01-01T00:01:00Z completed\n");
  EXPECT_EQ(row("tick").last["instance"], Json("tick@2024-01-01T00:01:00Z"));
}

TEST_F(SchedulesOnAnEngine, SkipWhileTheOneBeforeRuns) {
  create("s", spec("slow"));
  pass(180);
  EXPECT_EQ(instances(), "s@2024-01-01T00:01:00Z waiting\n");
  EXPECT_EQ(row("s").next_at, at("2024-01-01T00:04:00Z"));
}

TEST_F(SchedulesOnAnEngine, AllowStartsBesideIt) {
  create("s", spec("slow", "allow"));
  pass(120);
  EXPECT_EQ(instances(), "s@2024-01-01T00:01:00Z waiting\ns@2024-01-01T00:02:00Z waiting\n");
}

TEST_F(SchedulesOnAnEngine, CancelOtherEndsIt) {
  create("s", spec("slow", "cancel_other"));
  pass(120);
  EXPECT_EQ(instances(), "s@2024-01-01T00:01:00Z cancelled\ns@2024-01-01T00:02:00Z waiting\n");
}

TEST_F(SchedulesOnAnEngine, QueueStartsOneAfterTheOther) {
  create("s", spec("slow", "queue"));
  pass(180);
  EXPECT_EQ(instances(), "s@2024-01-01T00:01:00Z waiting\n");
  EXPECT_EQ(row("s").queued.size(), 2u);
  SignalRequest go;
  go.name = "go";
  ASSERT_TRUE(core_->instances().signal({"s@2024-01-01T00:01:00Z"}, go).has_value());
  run_until_idle(*core_);
  EXPECT_EQ(instances(), "s@2024-01-01T00:01:00Z completed\ns@2024-01-01T00:02:00Z waiting\n");
  EXPECT_EQ(row("s").queued.size(), 1u);
}

TEST_F(SchedulesOnAnEngine, MissedTimesAreMadeUpForWithinTheWindow) {
  Json caught = spec("quick");
  caught.set("catch_up", "3m");
  create("caught", caught);
  create("dropped", spec("quick"));
  clock_.advance(Duration::of_seconds(10 * 60 + 30));
  run_until_idle(*core_);
  EXPECT_EQ(instances(),
            "caught@2024-01-01T00:08:00Z completed\ndropped@2024-01-01T00:10:00Z completed\n"
            "caught@2024-01-01T00:09:00Z completed\ncaught@2024-01-01T00:10:00Z completed\n");
}

TEST_F(SchedulesOnAnEngine, PauseAndResume) {
  create("tick", spec("quick"));
  ASSERT_TRUE(pause_schedule(*core_, "tick", true)->paused);
  pass(600);
  EXPECT_EQ(instances(), "");
  const auto resumed = pause_schedule(*core_, "tick", false);
  EXPECT_EQ(resumed->next_at, at("2024-01-01T00:11:00Z")) << "what was missed meanwhile is dropped";
}

TEST_F(SchedulesOnAnEngine, TriggerStartsOneMore) {
  create("s", spec("slow"));
  clock_.advance(Duration::of_seconds(5));
  const auto row = trigger_schedule(*core_, "s");
  ASSERT_TRUE(row.has_value()) << row.error().message;
  EXPECT_EQ(row->last["instance"], Json("s@2024-01-01T00:00:05Z"));
  EXPECT_EQ(row->next_at, at("2024-01-01T00:01:00Z"));
  EXPECT_EQ(trigger_schedule(*core_, "unknown").error().code, ErrorCode::not_found);
}

TEST_F(SchedulesOnAnEngine, WhatATriggerStartsCountsAsRunning) {
  create("s", spec("slow"));
  create("c", spec("slow", "cancel_other"));
  pass(60);
  ASSERT_TRUE(trigger_schedule(*core_, "s", "k").has_value());
  ASSERT_TRUE(trigger_schedule(*core_, "c", "k").has_value());
  const InstanceId triggered{std::string(row("s").last["instance"].as_string())};
  ASSERT_EQ(row("s").last["beside"].size(), 1u);
  // The triggered instance ends; the one of the previous firing still runs.
  SignalRequest go;
  go.name = "go";
  ASSERT_TRUE(core_->instances().signal(triggered, go).has_value());
  pass(60);
  EXPECT_EQ(instances().find("s@2024-01-01T00:02:00Z"), std::string::npos) << "it overlaps: " << instances();
  EXPECT_NE(instances().find("c@2024-01-01T00:01:00Z cancelled"), std::string::npos) << instances();
  EXPECT_NE(instances().find("c@2024-01-01T00:02:00Z waiting"), std::string::npos) << instances();
  ASSERT_TRUE(core_->instances().signal({"s@2024-01-01T00:01:00Z"}, go).has_value());
  pass(60);
  EXPECT_NE(instances().find("s@2024-01-01T00:03:00Z waiting"), std::string::npos) << instances();
  EXPECT_TRUE(row("s").last["beside"].is_null());
}

TEST_F(SchedulesOnAnEngine, ANewBeatKeepsFrom) {
  Json given = spec("quick");
  given.set("from", "2024-02-01T00:00:00Z");
  create("tick", given);
  const auto changed = change_schedule(*core_, "tick", Json::object({{"cron", "0 6 * * *"}}), std::nullopt);
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  EXPECT_EQ(changed->next_at, at("2024-02-01T06:00:00Z"));
  const auto again = change_schedule(*core_, "tick", Json::object({{"every", "2h"}}), std::nullopt);
  EXPECT_EQ(again->next_at, at("2024-02-01T00:00:00Z"));
  const auto now = change_schedule(*core_, "tick", Json::object({{"from", Json()}}), std::nullopt);
  EXPECT_EQ(now->next_at, at("2024-01-01T02:00:00Z"));
}

TEST_F(SchedulesOnAnEngine, ATriggerWithAKeyStartsOnce) {
  create("s", spec("slow"));
  const auto first = trigger_schedule(*core_, "s", "k");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  clock_.advance(Duration::of_seconds(5));
  const auto again = trigger_schedule(*core_, "s", "k");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->last["instance"], first->last["instance"]);
  EXPECT_EQ(core_->store().list_instances({}, {10, ""})->items.size(), 1u);
  EXPECT_NE(trigger_schedule(*core_, "s", "another")->last["instance"], first->last["instance"]);
}

TEST_F(SchedulesOnAnEngine, MakeRunsToo) {
  create("r", Json::object({{"every", "1m"},
                            {"overlap", "queue"},
                            {"run", Json::object({{"type", "default.report"}, {"payload", Json(1)}})}}));
  pass(120);
  const auto runs = store_.list_runs({}, {});
  ASSERT_EQ(runs->items.size(), 1u);
  EXPECT_EQ(runs->items[0].idempotency_key, "r@2024-01-01T00:01:00Z");
  EXPECT_EQ(row("r").queued.size(), 1u);
  const auto leased = store_.lease_runs({"w", {}, {}, 1, Duration::of_seconds(60)});
  ASSERT_EQ(leased->size(), 1u);
  RunReport report;
  report.run = leased->front().id;
  report.fence = leased->front().fence;
  ASSERT_EQ(*core_->reports().report(report), RunAnswer::finished);
  EXPECT_EQ(store_.list_runs({}, {})->items.size(), 2u) << "the queued one follows at once";
  EXPECT_EQ(row("r").queued.size(), 0u);
}

// The queued firing starts in both cases.
TEST_F(SchedulesOnAnEngine, ARunThatIsCancelledOrDeletedMakesWayForTheNext) {
  create("r", Json::object({{"every", "1m"},
                            {"overlap", "queue"},
                            {"run", Json::object({{"type", "default.report"}, {"payload", Json(1)}})}}));
  pass(180);
  EXPECT_EQ(row("r").queued.size(), 2u);
  ASSERT_TRUE(core_->runs().cancel(store_.list_runs({}, {})->items[0].id, {}));
  EXPECT_EQ(row("r").queued.size(), 1u);
  EXPECT_EQ(store_.list_runs({}, {})->items.size(), 2u);
  ASSERT_TRUE(core_->runs().remove(store_.list_runs({}, {})->items[0].id, "not needed", {}));
  EXPECT_EQ(row("r").queued.size(), 0u);
  RunFilter all;
  all.deleted = true;
  EXPECT_EQ(store_.list_runs(all, {})->items.size(), 3u);
}

TEST_F(SchedulesOnAnEngine, AStartThatIsRefusedIsNotedAndDoesNotBlock) {
  put("cairn: 1\nname: picky\nversion: 1.0.0\ninput: { type: string }\nsteps:\n  - set: { x: 1 }\n");
  create("p", spec("picky"));
  pass(120);
  EXPECT_EQ(instances(), "");
  EXPECT_TRUE(row("p").last["error"].is_string());
  EXPECT_EQ(row("p").next_at, at("2024-01-01T00:03:00Z"));
}

TEST_F(SchedulesOnAnEngine, AFiringThatMeetsAFullQueueIsTriedAgain) {
  MemoryStore memory(clock_);
  HeldStore store(memory);
  CoreOptions options;
  options.limits.commits_waiting_max = 4;
  const auto core = std::move(*EngineCore::open(store, options));
  attach_schedules(*core);
  ASSERT_TRUE(deploy(*core, load_definition(quick, "test.yaml").program));
  ASSERT_TRUE(create_schedule(*core, "tick", spec("quick"), false));
  clock_.advance(Duration::of_seconds(60));
  std::atomic<int> asked = 0, answered = 0;
  std::atomic<bool> full = false;
  while (!full) {
    ++asked;
    StartRequest request;
    request.definition = "quick";
    request.input = Json::object({{"n", 7}});
    core->instances().start(std::move(request), [&](const Result<InstanceAnswer>& answer) {
      if (!answer) full = true;
      ++answered;
    });
    store.began.wait(false);
  }
  EXPECT_EQ(fire_schedules(*core), 0u);
  const ScheduleRow waiting = memory.find_schedule("tick")->value();
  EXPECT_EQ(waiting.next_at, at("2024-01-01T00:01:00Z"));
  EXPECT_EQ(waiting.last["error"], Json());
  store.gate.count_down();
  while (answered < asked) std::this_thread::yield();
  clock_.advance(options.hold);  // for which the firing was taken
  run_until_idle(*core);
  const auto fired = *memory.find_snapshot({"tick@2024-01-01T00:01:00Z"});
  ASSERT_TRUE(fired) << "the firing was lost";
  EXPECT_EQ(fired->output, Json(7));
}

TEST_F(SchedulesOnAnEngine, ChangingKeepsTheRestAndBeginsAnew) {
  create("tick", spec("quick"));
  const auto changed =
      change_schedule(*core_, "tick", Json::object({{"cron", "0 6 * * *"}, {"zone", "Europe/Berlin"}}), std::nullopt);
  ASSERT_TRUE(changed.has_value()) << changed.error().message;
  EXPECT_EQ(changed->next_at, at("2024-01-01T05:00:00Z"));
  EXPECT_EQ(changed->spec["start"]["definition"], Json("quick"));
  EXPECT_EQ(change_schedule(*core_, "tick", Json::object({{"jitter", "5m"}}), 1).error().code, ErrorCode::conflict);
  EXPECT_EQ(change_schedule(*core_, "tick", Json::object({{"cron", "x"}}), std::nullopt).error().code,
            ErrorCode::invalid);
  const auto times = preview_schedule(*core_, "tick", 2);
  EXPECT_EQ(*times, (std::vector{at("2024-01-01T05:00:00Z"), at("2024-01-02T05:00:00Z")}));
}

TEST_F(SchedulesOnAnEngine, RefusedAtTheDoor) {
  create("tick", spec("quick"));
  EXPECT_EQ(create_schedule(*core_, "tick", spec("quick"), false).error().code, ErrorCode::conflict);
  EXPECT_EQ(create_schedule(*core_, "a", spec("nobody"), false).error().code, ErrorCode::not_found);
  EXPECT_EQ(create_schedule(*core_, "a:0", spec("quick"), false).error().code, ErrorCode::invalid);
  EXPECT_TRUE(remove_schedule(*core_, "tick").has_value());
  EXPECT_EQ(remove_schedule(*core_, "tick").error().code, ErrorCode::not_found);
}

TEST_F(SchedulesOnAnEngine, OfADefinitionComeAndGoWithIt) {
  const std::string steps = "steps:\n  - set: { seen: '= input' }\noutput: '= state.seen'\n";
  put("cairn: 1\nname: nightly\nversion: 1.0.0\nschedules:\n"
      "  - { every: 1m, input: { site: '= config.site', day: '= string(now)' } }\n  - { cron: '0 6 * * *' }\n" +
      steps);
  EXPECT_EQ(store_.list_schedules({})->items.size(), 2u);
  pass(60);
  const auto first = *store_.find_snapshot({"nightly:0@2024-01-01T00:01:00Z"});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->output, Json::object({{"site", "north"}, {"day", "2024-01-01T00:01:00Z"}}));
  ASSERT_TRUE(pause_schedule(*core_, "nightly:0", true).has_value());
  put("cairn: 1\nname: nightly\nversion: 1.1.0\nschedules:\n"
      "  - { every: 1m, input: { site: '= config.site', day: '= string(now)' } }\n" +
      steps);
  EXPECT_EQ(store_.list_schedules({})->items.size(), 1u) << "the second is gone with the version that had it";
  EXPECT_TRUE(row("nightly:0").paused) << "what did not change stays as it was";
  EXPECT_EQ(change_schedule(*core_, "nightly:0", Json::object({{"every", "2m"}}), std::nullopt).error().code,
            ErrorCode::conflict);
}

}  // namespace
}  // namespace cairn
