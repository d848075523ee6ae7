// Timers and signals through the embedding interface.
#include "node/engine_fixture_test.h"

#include <atomic>
#include <thread>

#include "base/incidents.h"
#include "base/limit_refusals.h"

namespace cairn::node {

TEST_P(EngineOnAStore, TimersFireWhenTheirTimeHasCome) {
  deploy(sleeper);
  const InstanceId id = start("sleeper").instance;
  pass(Duration::of_seconds(3599));
  EXPECT_EQ(now(id).state_version, 1u);
  restart();
  pass(Duration::of_seconds(1));
  EXPECT_EQ(now(id).state_version, 2u);
  restart();
  pass(Duration::of_seconds(1800));
  EXPECT_EQ(now(id).status, Status::completed);
  EXPECT_EQ(now(id).output, Json::object({{"woken", true}}));
}

TEST_P(EngineOnAStore, ManyTimersAtOnceShareCommits) {
  deploy(sleeper);
  std::vector<InstanceId> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(start("sleeper").instance);
  pass(Duration::of_seconds(3600));
  pass(Duration::of_seconds(1800));
  for (const InstanceId& id : ids) EXPECT_EQ(now(id).status, Status::completed);
}

TEST_P(EngineOnAStore, ASignalReachesItsInstance) {
  deploy(listener);
  const InstanceId id = start("listener", Json::object({{"no", "42"}})).instance;
  restart();
  const auto done = engine_->signal(id, "paid", Json(100), Json("42"));
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->status, Status::completed);
  EXPECT_EQ(done->output, Json(100));
  EXPECT_EQ(engine_->signal(id, "paid", Json(100), Json("42")).error().code, ErrorCode::conflict);
}

TEST_P(EngineOnAStore, ABroadcastReachesWhoeverWaitsForTheKey) {
  deploy(listener);
  const InstanceId a = start("listener", Json::object({{"no", "1"}})).instance;
  const InstanceId b = start("listener", Json::object({{"no", "2"}})).instance;
  EXPECT_EQ(*engine_->broadcast("paid", Json("2"), Json(5)), 1u);
  restart();
  engine_->run_until_idle();
  EXPECT_EQ(now(a).status, Status::waiting);
  EXPECT_EQ(now(b).output, Json(5));
}

// Every store indexes them together.
TEST_P(EngineOnAStore, ASignalsNameAndKeyHaveALimitTogether) {
  std::string name, key;
  for (int i = 0; i < 200; ++i) name += "\xF0\x9F\x98\x80";
  for (int i = 0; i < 500; ++i) key += "\xF0\x9F\x98\x80";
  const auto refused = engine_->broadcast(name, Json(key), Json());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit);
  EXPECT_EQ(limit_of(refused.error()), (LimitRefusal{"signal_key_bytes", 2400}));
  EXPECT_TRUE(engine_->broadcast(name.substr(0, 400), Json(key), Json()));
}

TEST_P(EngineOnAStore, ARepeatThatWasOvertakenLeavesTheQueue) {
  deploy(R"(
cairn: 1
name: twice
version: 1.0.0
steps:
  - signal: { name: paid, key: = "7", result: first }
  - signal: { name: paid, key: = "7", result: second }
)");
  const InstanceId id = start("twice", Json::object()).instance;
  ASSERT_EQ(*engine_->broadcast("paid", Json("7"), Json(1), Duration::of_seconds(60), "s"), 1u);
  ASSERT_TRUE(engine_->signal(id, "paid", Json(2), Json("7"), "s").has_value());
  engine_->run_until_idle();
  EXPECT_TRUE(engine_->store().list_messages(id)->empty());
  EXPECT_EQ(now(id).status, Status::waiting) << "one signal is used up by one wait";
}

TEST_P(EngineOnAStore, AnEarlyBroadcastIsKept) {
  deploy(listener);
  EXPECT_EQ(*engine_->broadcast("paid", Json("1"), Json(5)), 0u);
  restart();
  const InstanceId id = start("listener", Json::object({{"no", "1"}})).instance;
  restart();
  engine_->run_until_idle();
  EXPECT_EQ(now(id).output, Json(5));
}

// Rule S11: a signal for which `where` is false is left for other waits, also those of other instances.
TEST_P(EngineOnAStore, ASignalThatWhereRefusesIsLeftForOtherInstances) {
  deploy(R"(
cairn: 1
name: paid_for
version: 1.0.0
steps:
  - signal: { name: paid, where: signal.order == input.order, result: first }
  - task: { name: Between }
  - signal: { name: paid, result: second }
output: = state
)");
  const auto order = [](const char* name) { return Json::object({{"order", name}}); };
  const InstanceId one = start("paid_for", order("A")).instance;
  // First only the wrong instance waits, then two that wait for other orders, then the right one.
  ASSERT_TRUE(engine_->broadcast("paid", Json(), order("C")).has_value());
  engine_->run_until_idle();
  EXPECT_EQ(now(one).status, Status::waiting);
  restart();
  const InstanceId bob = start("paid_for", order("B")).instance;
  engine_->run_until_idle();
  EXPECT_EQ(now(bob).status, Status::waiting);
  const InstanceId cid = start("paid_for", order("C")).instance;
  engine_->run_until_idle();
  const auto tasks = engine_->tasks();
  ASSERT_EQ(tasks->size(), 1u) << "only the third one has gone on";
  EXPECT_EQ(tasks->front().instance, cid);
  EXPECT_EQ(engine_->store().find_snapshot(cid)->value().state["first"], order("C"));
  // An early signal arrives after one that does not match.
  ASSERT_TRUE(engine_->broadcast("paid", Json(), order("X")).has_value());
  engine_->run_until_idle();
  ASSERT_TRUE(engine_->broadcast("paid", Json(), order("A")).has_value());
  engine_->run_until_idle();
  ASSERT_EQ(engine_->tasks(one)->size(), 1u);
  ASSERT_TRUE(engine_->complete(engine_->tasks(one)->front().id, Json(), {"ann", {}}).has_value());
  engine_->run_until_idle();
  EXPECT_EQ(now(one).status, Status::completed);
  EXPECT_EQ(now(one).output["second"], order("C")) << "what it left it keeps for its own later waits, oldest first";
}

TEST_P(EngineOnAStore, ALeftSignalLivesNoLongerThanItWasSentFor) {
  deploy(R"(
cairn: 1
name: picky
version: 1.0.0
steps: [ { signal: { name: paid, where: signal == input.n, result: r } } ]
output: = state.r
)");
  start("picky", Json::object({{"n", 1}}));
  ASSERT_TRUE(engine_->broadcast("paid", Json(), Json(2), Duration::of_seconds(60)).has_value());
  pass(Duration::of_seconds(50));
  start("picky", Json::object({{"n", 3}}));
  pass(Duration::of_seconds(20));
  const InstanceId late = start("picky", Json::object({{"n", 2}})).instance;
  engine_->run_until_idle();
  EXPECT_EQ(now(late).status, Status::waiting);
}

TEST_P(EngineOnAStore, ARepeatedSignalIsAppliedOnce) {
  deploy(counter);
  const InstanceId id = start("counter").instance;
  ASSERT_TRUE(engine_->signal(id, "add", Json(1), {}, "one").has_value());
  ASSERT_TRUE(engine_->signal(id, "add", Json(1), {}, "two").has_value());
  const auto again = engine_->signal(id, "add", Json(1), {}, "one");
  ASSERT_TRUE(again.has_value());
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(engine_->store().find_snapshot(id)->value().state["sum"], Json(2));
}

TEST_P(EngineOnAStore, ManyThreadsOnOneInstanceLoseNothing) {
  deploy(counter);
  const InstanceId id = start("counter").instance;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int round = 0; round < 5; ++round) {
          if (!engine_->signal(id, "add", Json(1)).has_value()) ++refused;
        }
      });
    }
  }
  EXPECT_EQ(refused, 0);
  EXPECT_EQ(now(id).output, Json(40));
}

TEST_P(EngineOnAStore, AKeptSignalStaysUntilAnInstanceWaits) {
  deploy(listener);
  ASSERT_TRUE(engine_->broadcast("paid", Json("1"), Json(5)).has_value());
  pass(Duration::of_seconds(400 * 86'400));
  restart();
  const InstanceId id = start("listener", Json::object({{"no", "1"}})).instance;
  engine_->run_until_idle();
  EXPECT_EQ(now(id).output, Json(5));
}

namespace {

std::uint64_t dead_letters_told() {
  std::uint64_t told = 0;
  for (const IncidentCount& one : incident_counts()) {
    if (one.incident.kind == Incident::Kind::dead_letter) told += one.count;
  }
  return told;
}

}  // namespace

TEST_P(EngineOnAStore, AnExpiredSignalIsADeadLetterThatCanBeReplayed) {
  const std::uint64_t told_before = dead_letters_told();
  deploy(R"(
cairn: 1
name: rules
version: 1.0.0
signals: { paid: { ttl: 2d, schema: { type: number } } }
steps: [ { task: { name: T } }, { signal: { name: paid, result: p } } ]
output: = state.p
)");
  EXPECT_EQ(engine_->broadcast("paid", Json("1"), Json("text")).error().code, ErrorCode::invalid);
  ASSERT_TRUE(engine_->broadcast("paid", Json("1"), Json(5)).has_value());
  const InstanceId id = start("rules").instance;
  ASSERT_TRUE(engine_->signal(id, "paid", Json(6)).has_value());
  EXPECT_EQ(engine_->signal(id, "paid", Json("text")).error().code, ErrorCode::invalid);
  pass(Duration::of_seconds(86'400));
  EXPECT_EQ(engine_->store().list_signals({}, {})->items.size(), 1u);
  pass(Duration::of_seconds(86'401));
  EXPECT_TRUE(engine_->store().list_signals({}, {})->items.empty());
  EXPECT_TRUE(engine_->store().find_snapshot(id)->value().signals.empty());
  EXPECT_EQ(engine_->core().context().signals_expired, 2u);
  const auto letters = engine_->store().list_dead_letters({})->items;
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(dead_letters_told() - told_before, 2u) << "each is told once";
  for (const DeadLetter& letter : letters) {
    EXPECT_TRUE(letter.reason.starts_with("expired")) << letter.reason;
    if (letter.instance) {
      EXPECT_EQ(*letter.instance, id);
      ASSERT_TRUE(*engine_->store().replay_dead_letter(letter.id));
    }
  }
  engine_->run_until_idle();
  ASSERT_TRUE(engine_->complete(only_task(), Json::object(), ann).has_value());
  EXPECT_EQ(now(id).output, Json(6)) << "the replayed signal is another one";
}

TEST_P(EngineOnAStore, ARefusedSignalDoesNotHoldUpTheNextOne) {
  ASSERT_TRUE(engine_->broadcast("paid", Json("1"), Json("text")).has_value());
  ASSERT_TRUE(engine_->broadcast("paid", Json("1"), Json(5)).has_value());
  deploy(R"(
cairn: 1
name: strict
version: 1.0.0
signals: { paid: { schema: { type: number } } }
steps: [ { signal: { name: paid, key: "1", result: p } } ]
output: = state.p
)");
  const InstanceId id = start("strict").instance;
  engine_->run_until_idle();
  EXPECT_EQ(now(id).status, Status::completed);
  EXPECT_EQ(now(id).output, Json(5));
  EXPECT_EQ(engine_->store().list_dead_letters({})->items.size(), 1u);
}

TEST_P(EngineOnAStore, ASchemaOfANewVersionDoesNotRefuseSignalsToOlderOnes) {
  const auto define = [&](const std::string& version, const std::string& type) {
    deploy(("cairn: 1\nname: grows\nversion: " + version + "\nsignals: { paid: { schema: { type: " + type +
            " } } }\nsteps: [ { signal: { name: paid } } ]\n")
               .c_str());
  };
  define("1.0.0", "string");
  const InstanceId old = start("grows").instance;
  define("2.0.0", "number");
  EXPECT_EQ(engine_->broadcast("paid", {}, Json(true)).error().code, ErrorCode::invalid) << "no version takes it";
  ASSERT_TRUE(engine_->broadcast("paid", {}, Json("text")).has_value());
  engine_->run_until_idle();
  EXPECT_EQ(now(old).status, Status::completed);
}

TEST_P(EngineOnAStore, ADefinitionThatSetsNoTimeKeepsASignalForEver) {
  const auto define = [&](const std::string& name, const std::string& rules) {
    deploy(("cairn: 1\nname: " + name + "\nversion: 1.0.0\n" + rules +
            "steps: [ { signal: { name: paid, key: = input.no } } ]\n")
               .c_str());
  };
  const auto until = [&](const char* key, const Json& payload) {
    EXPECT_TRUE(engine_->broadcast("paid", Json(key), payload).has_value());
    const auto kept = engine_->store().list_signals({"paid", key}, {})->items;
    return kept.empty() ? std::nullopt : kept[0].until;
  };
  define("short", "signals: { paid: { ttl: 1h, schema: { type: number } } }\n");
  EXPECT_TRUE(until("1", Json(1)).has_value());
  EXPECT_EQ(engine_->broadcast("paid", Json("2"), Json("text")).error().code, ErrorCode::invalid);
  define("long", "signals: { paid: { ttl: 1d, schema: { type: string } } }\n");
  EXPECT_GT(*until("3", Json("text")), *until("1", Json(1)));
  EXPECT_EQ(engine_->broadcast("paid", Json("4"), Json(true)).error().code, ErrorCode::invalid);
  define("plain", "");
  EXPECT_FALSE(until("5", Json(true)).has_value()) << "this definition waits for it without a rule";
}

}  // namespace cairn::node
