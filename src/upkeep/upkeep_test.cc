// Work that does not finish by itself: timeouts, lost leases, dead letters, retention.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "base/id.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/open.h"
#include "upkeep/replay_dead_letter.h"
#include "upkeep/retention.h"
#include "upkeep/verify.h"

namespace cairn {
namespace {

constexpr const char* caller = R"(
cairn: 1
name: caller
version: 1.0.0
steps:
  - id: c
    call: { worker: { type: w.v1 }, timeout: 10s, retry: { attempts: 2, backoff: 5s, jitter: 0 }, result: r }
output: = state.r
)";
constexpr const char* patient = R"(
cairn: 1
name: patient
version: 1.0.0
steps:
  - id: c
    call: { worker: { type: w.v1 }, retry: { attempts: 2 }, result: r }
output: = state.r
)";
constexpr const char* strict = R"(
cairn: 1
name: strict
version: 1.0.0
input: { type: object, required: [n] }
steps: [ { set: { x: 1 } } ]
)";
constexpr const char* family = R"(
cairn: 1
name: family
version: 1.0.0
steps:
  - subworkflow: { name: leaf, input: {} }
  - task: { name: Stay }
)";
constexpr const char* leaf = R"(
cairn: 1
name: leaf
version: 1.0.0
steps: [ { set: { x: 1 } } ]
)";

class Upkeep : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) +
              "cairn_upkeep_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    open();
  }
  void TearDown() override {
    core_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  bool is_memory() const { return std::string(GetParam()) == "memory"; }
  void open() {
    core_.reset();
    if (!is_memory() || !store_) {
      store_.reset();
      auto store = open_store(is_memory() ? "memory:" : "sqlite:" + folder_ + "/store.db", clock_);
      ASSERT_TRUE(store.has_value()) << store.error().message;
      store_ = std::move(*store);
    }
    auto core = EngineCore::open(*store_, {});
    ASSERT_TRUE(core.has_value()) << core.error().message;
    core_ = std::move(*core);
  }
  void deploy(const char* text) {
    const Definition definition = load_definition(text, "test");
    ASSERT_TRUE(definition.valid());
    ASSERT_TRUE(core_->registry().deploy(definition.program).has_value());
  }
  void start(const std::string& name, const std::string& id) {
    StartRequest request;
    request.definition = name;
    request.id = id;
    const auto started = core_->instances().start(request);
    ASSERT_TRUE(started.has_value()) << started.error().message;
  }
  RunRow lease(Duration length) {
    LeaseRequest request;
    request.worker = "w";
    request.types = {"w.v1"};
    request.length = length;
    const auto leased = store_->lease_runs(request);
    EXPECT_TRUE(leased.has_value());
    EXPECT_EQ(leased->size(), 1u);
    return leased->empty() ? RunRow{} : leased->front();
  }
  InstanceRow row(const std::string& id) { return store_->find_instance({id})->value(); }
  std::vector<DeadLetter> letters() { return store_->list_dead_letters({})->items; }
  void pass(std::int64_t seconds) {
    clock_.advance(Duration::of_seconds(seconds));
    core_->due().run_until_idle();
  }
  void expect_sound() {
    const auto report = verify_store(*store_);
    ASSERT_TRUE(report.has_value());
    for (const Finding& finding : report->findings) {
      ADD_FAILURE() << finding.invariant << ": " << finding.subject << ": " << finding.message;
    }
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  std::string folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
};
INSTANTIATE_TEST_SUITE_P(Stores, Upkeep, testing::Values("memory", "sqlite"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_P(Upkeep, AWorkerThatHangsIsTimedOutThoughItKeepsItsLease) {
  deploy(caller);
  start("caller", "a");
  const RunRow run = lease(Duration::of_seconds(8));
  clock_.advance(Duration::of_seconds(7));
  RunChange beat;
  beat.kind = RunChange::Kind::heartbeat;
  beat.run = run.id;
  beat.fence = run.fence;
  beat.length = Duration::of_seconds(3600);
  ASSERT_EQ(store_->change_run(beat)->kind, RunChanged::Kind::done);
  ASSERT_TRUE(store_->next_due()->has_value());
  EXPECT_EQ(**store_->next_due(), Timestamp::of_unix_ms(1'700'000'010'000)) << "the timeout is what wakes the loop";
  open();  // the process that leased it is gone
  pass(3);
  const RunRow retried = store_->find_run(run.id)->value();
  EXPECT_EQ(retried.status, RunStatus::pending);
  EXPECT_EQ(retried.error.text_or("code", ""), "call_timeout");
  EXPECT_EQ(retried.run_at, Timestamp::of_unix_ms(1'700'000'015'000));

  RunReport late;
  late.run = run.id;
  late.fence = run.fence;
  late.result = 1;
  EXPECT_EQ(*core_->reports().report(late), RunAnswer::lease_lost);

  pass(5);
  lease(Duration::of_seconds(3600));
  pass(10);
  EXPECT_EQ(row("a").status, Status::suspended);
  EXPECT_EQ(row("a").error->code, "call_timeout");
  EXPECT_EQ(row("a").error->failure_class, FailureClass::timeout);
  EXPECT_EQ(row("a").error->attempt, 2);
  EXPECT_EQ(letters().size(), 1u) << "its attempts are used up";
  expect_sound();
}

TEST_P(Upkeep, ARunWhoseWorkersAllDieBecomesADeadLetterAndCanBeReplayed) {
  deploy(patient);
  start("patient", "p");
  for (int attempt = 0; attempt < 2; ++attempt) {
    lease(Duration::of_seconds(5));
    pass(5);
  }
  EXPECT_EQ(row("p").status, Status::suspended);
  ASSERT_EQ(letters().size(), 1u);
  const DeadLetter letter = letters().front();
  EXPECT_EQ(letter.kind, "run");
  EXPECT_EQ(letter.instance, InstanceId{"p"});
  EXPECT_EQ(letter.envelope.text_or("type", ""), "w.v1");
  EXPECT_NE(letter.reason.find("2 of 2 attempts"), std::string::npos) << letter.reason;
  EXPECT_EQ(letter.node, core_->node());
  EXPECT_EQ(letter.at, store_->now());
  expect_sound();

  EXPECT_TRUE(*replay_dead_letter(*core_, letter.id, {}));
  EXPECT_TRUE(letters().empty());
  EXPECT_EQ(row("p").status, Status::waiting);
  RunReport done;
  const RunRow again = lease(Duration::of_seconds(5));
  EXPECT_NE(again.id.value, std::string(letter.envelope.text_or("run", "")));
  done.run = again.id;
  done.fence = again.fence;
  done.result = 7;
  EXPECT_EQ(*core_->reports().report(done), RunAnswer::finished);
  EXPECT_EQ(row("p").status, Status::completed);
  EXPECT_FALSE(*replay_dead_letter(*core_, letter.id, {})) << "there is no such letter any more";
  expect_sound();
}

TEST_P(Upkeep, ADeadRunOfAnInstanceThatWentOnIsNotReplayed) {
  deploy(patient);
  start("patient", "p");
  for (int attempt = 0; attempt < 2; ++attempt) {
    lease(Duration::of_seconds(5));
    pass(5);
  }
  ASSERT_EQ(letters().size(), 1u);
  ASSERT_TRUE(core_->instances().request({"p"}, SkipRequested{Json(1)}, {}).has_value());
  const auto replayed = replay_dead_letter(*core_, letters().front().id, {});
  ASSERT_FALSE(replayed.has_value());
  EXPECT_EQ(replayed.error().code, ErrorCode::conflict);
  EXPECT_EQ(letters().size(), 1u);
}

TEST_P(Upkeep, ADeadRunOnItsOwnIsSubmittedAgain) {
  RunRequest request;
  request.type = "w.v1";
  request.payload = Json::object({{"a", 1}});
  request.attempts_max = 1;
  ASSERT_TRUE(core_->runs().submit(request).has_value());
  lease(Duration::of_seconds(5));
  pass(5);
  ASSERT_EQ(letters().size(), 1u);
  EXPECT_TRUE(*replay_dead_letter(*core_, letters().front().id, {}));
  EXPECT_EQ(lease(Duration::of_seconds(5)).payload, request.payload);
  EXPECT_TRUE(letters().empty());
}

// As the stores write them: without a payload, or with the reason in its place.
TEST_P(Upkeep, ADeadRunWhosePayloadCouldNotBeReadIsNotSubmittedAgain) {
  const Json run = Json::object({{"run", new_uuid(store_->now())}, {"type", "w.v1"}});
  Json with_reason = run;
  with_reason.set("payload", Json::object({{"unreadable", "the number is too large"}}));
  for (const Json& envelope : {run, with_reason}) {
    DeadLetter letter;
    letter.kind = "run";
    letter.envelope = envelope;
    letter.reason = "a stored value cannot be read";
    const auto refused = replay_dead_letter(*core_, *store_->put_dead_letter(letter), {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::conflict) << refused.error().message;
  }
  EXPECT_EQ(letters().size(), 2u);
  EXPECT_TRUE(store_->list_runs({}, {10, ""})->items.empty());
}

TEST_P(Upkeep, AStartThatWasRefusedIsReplayedOnce) {
  deploy(strict);
  DeadLetter letter;
  letter.kind = "start";
  letter.envelope = Json::object({{"instance", "s"},
                                  {"name", "strict"},
                                  {"version", Json()},
                                  {"input", Json::object()},
                                  {"reference", Json::object({{"key", "K"}, {"parts", Json::object()}})}});
  letter.reason = "unknown_workflow: no definition strict is deployed";
  letter.node = "node";
  letter.id = *store_->put_dead_letter(letter);
  const auto refused = replay_dead_letter(*core_, letter.id, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(letters().size(), 1u) << "nothing was changed";

  std::string forgiving(strict);
  forgiving.replace(forgiving.find("1.0.0"), 5, "1.0.1");
  forgiving.replace(forgiving.find("required: [n]"), 13, "required: []");
  deploy(forgiving.c_str());
  EXPECT_TRUE(*replay_dead_letter(*core_, letter.id, {}));
  EXPECT_TRUE(letters().empty());
  EXPECT_EQ(row("s").status, Status::completed);
  EXPECT_EQ(row("s").reference.key, Json("K"));
  // A replay that was interrupted before the letter was removed finds its own instance.
  letter.id = *store_->put_dead_letter(letter);
  EXPECT_TRUE(*replay_dead_letter(*core_, letter.id, {}));
  EXPECT_EQ(row("s").state_version, 1u);
}

TEST_P(Upkeep, RetentionTakesWhatIsOldEnoughAndLeavesWhatLives) {
  deploy(leaf);
  deploy(family);
  start("family", "alive");  // its child ended long ago, but it has not ended
  for (int i = 0; i < 7; ++i) start("leaf", "old" + std::to_string(i));
  start("family", "gone");
  ASSERT_TRUE(core_->instances().request({"gone"}, CancelRequested{}, {}).has_value());
  core_->due().run_until_idle();
  pass(3600);
  start("leaf", "new");
  RetentionPolicy policy;
  policy.completed = Duration::of_seconds(1800);
  policy.batch = 3;
  auto report = run_retention(*core_, policy);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_TRUE(report->ran);
  EXPECT_EQ(report->instances, 7u);
  EXPECT_TRUE(store_->find_instance({"alive"})->has_value());
  EXPECT_TRUE(store_->find_instance({"gone"})->has_value()) << "cancelled ones are kept";
  EXPECT_TRUE(store_->find_instance({"new"})->has_value());
  EXPECT_FALSE(store_->find_instance({"old0"})->has_value());
  policy.cancelled = Duration::of_seconds(1800);
  report = run_retention(*core_, policy);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->instances, 2u) << "the cancelled one with its child";
  EXPECT_TRUE(store_->find_instance({"alive"})->has_value());
  expect_sound();
}

TEST_P(Upkeep, RetentionEndsThoughInstancesGoOnEnding) {
  deploy(leaf);
  start("leaf", "old");
  RetentionPolicy policy;
  policy.completed = Duration();
  policy.batch = 1;
  int looks = 0;
  clock_.advance(Duration::of_seconds(1));
  const auto busy = run_retention(*core_, policy, [&] {
    clock_.advance(Duration::of_seconds(1));
    start("leaf", "new-" + std::to_string(looks));
    return ++looks > 20;
  });
  ASSERT_TRUE(busy.has_value());
  EXPECT_EQ(busy->instances, 1u) << "those that ended after it began are for the next run";
  EXPECT_FALSE(busy->more);
  const auto cut = run_retention(*core_, policy, [] { return true; });
  ASSERT_TRUE(cut.has_value());
  EXPECT_TRUE(cut->more);
  EXPECT_EQ(cut->instances, 0u);
}

TEST_P(Upkeep, RetentionRemovesNoKeptSignals) {
  SignalRequest signal;
  signal.name = "nobody.waits";
  ASSERT_TRUE(core_->instances().broadcast(signal)->kept);
  signal.ttl = Duration::of_seconds(10);
  ASSERT_TRUE(core_->instances().broadcast(signal)->kept);
  clock_.advance(Duration::of_seconds(60));
  RetentionLoop loop(*core_, {}, std::chrono::hours(1));
  loop.start();
  loop.stop();
  EXPECT_EQ(store_->list_signals({}, {})->items.size(), 2u) << "the expired one is not lost before it is a dead letter";
  core_->due().run_until_idle();
  const auto letters = store_->list_dead_letters({})->items;
  ASSERT_EQ(letters.size(), 1u);
  deploy("cairn: 1\nname: late\nversion: 1.0.0\nsteps: [ { signal: { name: nobody.waits } } ]\n");
  for (const char* id : {"a", "b"}) {
    start("late", id);
    core_->due().run_until_idle();
  }
  EXPECT_EQ(row("a").status, Status::completed);
  EXPECT_EQ(row("b").status, Status::waiting) << "the other one has expired";
  ASSERT_TRUE(*replay_dead_letter(*core_, letters[0].id, {}));
  core_->due().run_until_idle();
  EXPECT_EQ(row("b").status, Status::completed) << "a replay sends it again";
  EXPECT_TRUE(store_->list_dead_letters({})->items.empty());
}

TEST_P(Upkeep, AccountsOfTokensGoThoughEverythingElseIsKept) {
  ASSERT_TRUE(store_->put_token_user({"#gone", "gone", {"viewer"}, {}}).has_value());
  clock_.advance(token_users_kept);
  ASSERT_TRUE(store_->put_token_user({"#here", "here", {"viewer"}, {}}).has_value());
  const auto sweep = [&] {
    RetentionLoop loop(*core_, {}, std::chrono::hours(1));
    loop.start();
    loop.stop();
  };
  sweep();
  EXPECT_EQ(store_->find_token_users("gone")->size(), 1u) << "not older yet";
  clock_.advance(Duration::of_seconds(1));
  sweep();
  EXPECT_TRUE(store_->find_token_users("gone")->empty());
  EXPECT_EQ(store_->find_token_users("here")->size(), 1u);
}

TEST_P(Upkeep, OnlyOneNodeAtATimeDoesRetention) {
  deploy(leaf);
  start("leaf", "old");
  pass(3600);
  RetentionPolicy policy;
  policy.completed = Duration::of_seconds(60);
  const auto other = store_->hold_lock("retention", "another node", Duration::of_seconds(30));
  ASSERT_TRUE(other.has_value() && other->has_value());
  auto report = run_retention(*core_, policy);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->ran);
  EXPECT_EQ(report->instances, 0u);
  clock_.advance(Duration::of_seconds(31));
  report = run_retention(*core_, policy);
  ASSERT_TRUE(report.has_value());
  EXPECT_TRUE(report->ran) << "the other one died and its lock has ended";
  EXPECT_EQ(report->instances, 1u);
  EXPECT_TRUE(store_->hold_lock("retention", "another node", Duration::of_seconds(30))->has_value())
      << "the lock was given back";
}

}  // namespace
}  // namespace cairn
