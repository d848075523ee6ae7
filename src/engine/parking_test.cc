// Bad data parks one instance. All other work continues, and nothing is lost.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "engine/slice.h"
#include "store/open.h"

namespace cairn {
namespace {

constexpr const char* listener = R"(
cairn: 1
name: listener
version: 1.0.0
steps:
  - signal: { name: go, result: got }
output: = state.got
)";
constexpr const char* sleeper = R"(
cairn: 1
name: sleeper
version: 1.0.0
steps:
  - wait: 1h
output: 1
)";
constexpr const char* stepper = R"(
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

constexpr const char* timed_steps = R"(
cairn: 1
name: timed_steps
version: 1.0.0
checkpoint: step
steps:
  - parallel:
      branches:
        sleep: [ { wait: 1h }, { set: { woke: = now } } ]
        work: [ { set: { a: = now } }, { set: { b: = now } }, { signal: { name: go } }, { set: { c: = now } } ]
output: { same: = state.a == state.b, woke: = state.woke, c: = state.c }
)";

class Parking : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) +
              "cairn_parking_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    open();
  }
  void TearDown() override {
    close();
    std::filesystem::remove_all(folder_);
  }
  void close() {
    core_.reset();
    store_.reset();
  }
  void open() {
    close();
    auto store = open_store("sqlite:" + folder_ + "/store.db", clock_);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = std::move(*store);
    CoreOptions options;
    options.strict_definitions = false;
    options.snapshots_cached = cached_;
    auto core = EngineCore::open(*store_, options);
    ASSERT_TRUE(core.has_value()) << core.error().message;
    core_ = std::move(*core);
  }
  std::shared_ptr<const Program> deploy(const char* text) {
    const Definition definition = load_definition(text, "test");
    EXPECT_TRUE(definition.valid());
    EXPECT_TRUE(core_->registry().deploy(definition.program).has_value());
    return definition.program;
  }
  InstanceId start(const std::string& name, const std::string& id) {
    StartRequest request;
    request.definition = name;
    request.id = id;
    EXPECT_TRUE(core_->instances().start(request).has_value());
    return {id};
  }
  void sql(const std::string& text) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ + "/store.db").c_str(), &handle), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    sqlite3_close(handle);
  }
  InstanceRow row(const std::string& id) { return store_->find_instance({id})->value(); }

  // The first commit of an instance that a checkpoint interrupts. The node that should continue it is gone.
  void start_and_crash(const std::shared_ptr<const Program>& program, const std::string& id) {
    Slice slice(core_->registry(), Setting{}, store_->now(), "tester", "node");
    Started started;
    started.instance = {id};
    ASSERT_TRUE(slice.start(*program, started).has_value());
    ASSERT_EQ(slice.unfinished().size(), 1u);
    ASSERT_EQ(store_->commit(std::span(&slice.unit, 1))->front().kind, CommitOutcome::Kind::done);
    ASSERT_EQ(row(id).status, Status::running);
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  std::size_t cached_ = 4096;
  std::string folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
};

TEST_F(Parking, ADamagedSnapshotParksItsInstanceOnly) {
  deploy(listener);
  start("listener", "bad");
  start("listener", "good");
  close();
  sql("CREATE TABLE kept AS SELECT * FROM wf_runtime_states");
  sql("UPDATE wf_runtime_states SET snapshot = replace(snapshot, 'listener', 'hijacked') WHERE n = "
      "(SELECT n FROM wf_instances_base WHERE id = 'bad')");
  open();
  SignalRequest signal;
  signal.name = "go";
  signal.payload = Json(7);
  ASSERT_EQ(core_->instances().broadcast(signal)->delivered.size(), 2u);
  core_->due().run_until_idle();
  EXPECT_EQ(row("good").status, Status::completed);
  EXPECT_EQ(row("bad").status, Status::suspended);
  EXPECT_EQ(row("bad").error->code, "snapshot_corrupt");
  const auto letters = store_->list_dead_letters({})->items;
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].instance, InstanceId{"bad"});
  EXPECT_FALSE(letters[0].node.empty());

  close();
  sql("UPDATE wf_runtime_states SET snapshot = (SELECT snapshot FROM kept WHERE kept.n = wf_runtime_states.n) WHERE n "
      "= "
      "(SELECT n FROM wf_instances_base WHERE id = 'bad')");
  open();
  EXPECT_TRUE(*store_->replay_dead_letter(letters[0].id));
  core_->due().run_until_idle();
  EXPECT_EQ(row("bad").status, Status::completed) << "repaired and replayed, it goes on where it was";
}

TEST_F(Parking, ALostPieceParksTheInstancesThatNeedItAndIsNamed) {
  deploy(listener);
  const auto begin = [&](const std::string& id, char letter) {
    StartRequest request;
    request.definition = "listener";
    request.id = id;
    request.input = Json::object({{"doc", std::string(50'000, letter)}});
    ASSERT_TRUE(core_->instances().start(request).has_value());
  };
  begin("bad", 'x');
  begin("good", 'y');
  const std::string hash = store_->list_pieces({"bad"})->at(0);
  close();
  sql("CREATE TABLE kept AS SELECT * FROM wf_pieces");
  sql("DELETE FROM wf_pieces WHERE hash = '" + hash + "'");
  open();
  SignalRequest signal;
  signal.name = "go";
  signal.payload = Json(7);
  ASSERT_EQ(core_->instances().broadcast(signal)->delivered.size(), 2u);
  core_->due().run_until_idle();
  EXPECT_EQ(row("good").status, Status::completed);
  EXPECT_EQ(row("bad").status, Status::suspended);
  EXPECT_EQ(row("bad").error->code, "snapshot_corrupt");
  const auto letters = store_->list_dead_letters({})->items;
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].instance, InstanceId{"bad"});
  const std::string named = "piece " + hash + " (snapshot.business.input.doc) is missing";
  EXPECT_NE(letters[0].reason.find(named), std::string::npos) << letters[0].reason;
  EXPECT_NE(row("bad").error->message.find(named), std::string::npos) << row("bad").error->message;

  close();
  sql("INSERT INTO wf_pieces SELECT * FROM kept WHERE hash = '" + hash + "'");
  open();
  EXPECT_TRUE(*store_->replay_dead_letter(letters[0].id));
  core_->due().run_until_idle();
  EXPECT_EQ(row("bad").status, Status::completed) << "with its piece back, it goes on where it was";
}

TEST_F(Parking, AMissingDefinitionHasAGracePeriod) {
  deploy(sleeper);
  start("sleeper", "s");
  close();
  sql("DELETE FROM wf_definitions");
  open();
  clock_.advance(Duration::of_seconds(3600));
  core_->due().run_until_idle();
  EXPECT_EQ(row("s").status, Status::waiting);
  clock_.advance(Duration::of_seconds(30));
  core_->due().run_until_idle();
  EXPECT_EQ(row("s").status, Status::waiting) << "it may still be on its way";
  clock_.advance(Duration::of_seconds(31));
  std::vector<std::string> logged;
  LogSettings log;
  log.format = LogFormat::json;
  log.write = [&logged](std::string_view line) { logged.emplace_back(line); };
  configure_log(log);
  core_->due().run_until_idle();
  configure_log({});
  EXPECT_EQ(row("s").status, Status::suspended);
  EXPECT_EQ(row("s").error->code, "definition_missing");
  std::vector<std::string> events;
  for (const std::string& line : logged) events.emplace_back(parse_json(line)->text_or("event", ""));
  EXPECT_EQ(events, (std::vector<std::string>{"definition.unavailable", "instance.suspended", "dead_letter.created"}));
  ASSERT_FALSE(logged.empty());
  EXPECT_EQ((*parse_json(logged[0]))["definition"], Json("sleeper"));
  const auto letters = store_->list_dead_letters({})->items;
  ASSERT_EQ(letters.size(), 1u);
  EXPECT_EQ(letters[0].kind, "timer");

  deploy(sleeper);
  EXPECT_TRUE(*store_->replay_dead_letter(letters[0].id));
  core_->due().run_until_idle();
  EXPECT_EQ(row("s").status, Status::completed);
}

TEST_F(Parking, ADefinitionThatArrivesInTimeIsUsed) {
  deploy(sleeper);
  start("sleeper", "s");
  close();
  sql("DELETE FROM wf_definitions");
  open();
  clock_.advance(Duration::of_seconds(3600));
  core_->due().run_until_idle();
  deploy(sleeper);
  clock_.advance(Duration::of_seconds(30));
  core_->due().run_until_idle();
  EXPECT_EQ(row("s").status, Status::completed);
  EXPECT_TRUE(store_->list_dead_letters({})->items.empty());
}

TEST_F(Parking, AStoredDefinitionThatDoesNotCompileIsRefusedWhenStrict) {
  deploy(sleeper);
  close();
  sql("UPDATE wf_definitions SET canonical = '{\"cairn\":1}'");
  open();
  EXPECT_EQ(core_->registry().unavailable().size(), 1u);
  core_.reset();
  const auto strict = EngineCore::open(*store_, {});
  ASSERT_FALSE(strict.has_value());
  EXPECT_NE(strict.error().message.find("sleeper 1.0.0"), std::string::npos);
}

TEST_F(Parking, ASliceCutByACheckpointGoesOnAfterACrash) {
  const auto program = deploy(stepper);
  start_and_crash(program, "cut");
  open();
  EXPECT_EQ(core_->due().resume_interrupted_slices(), 1u);
  EXPECT_EQ(row("cut").status, Status::completed);
  EXPECT_EQ(store_->find_snapshot({"cut"})->value().output, Json(3));
  EXPECT_EQ(core_->due().resume_interrupted_slices(), 0u);
}

// Rule S22: `now` is the same in every step of a slice, whatever comes between its commits.
TEST_F(Parking, ASignalThatFindsACutSliceComesAfterIt) {
  const auto program = deploy(timed_steps);
  start_and_crash(program, "cut");
  clock_.advance(Duration::of_seconds(60));
  SignalRequest signal;
  signal.name = "go";
  const auto answered = core_->instances().signal({"cut"}, signal);
  ASSERT_TRUE(answered.has_value()) << answered.error().message;
  clock_.advance(Duration::of_seconds(3600));
  core_->due().run_until_idle();
  ASSERT_EQ(row("cut").status, Status::completed);
  const Json output = store_->find_snapshot({"cut"})->value().output;
  EXPECT_EQ(output["same"], Json(true));
  EXPECT_EQ(output["c"], Json("2023-11-14T22:14:20Z")) << "a minute after the start: the signal's own slice";
}

TEST_F(Parking, ATimerThatFindsACutSliceComesAfterIt) {
  const auto program = deploy(timed_steps);
  start_and_crash(program, "cut");
  clock_.advance(Duration::of_seconds(3600));
  EXPECT_EQ(core_->due().fire_timers(), 1u);
  SignalRequest signal;
  signal.name = "go";
  ASSERT_TRUE(core_->instances().signal({"cut"}, signal).has_value());
  const Json output = store_->find_snapshot({"cut"})->value().output;
  EXPECT_EQ(output["same"], Json(true));
  EXPECT_EQ(output["woke"], Json("2023-11-14T23:13:20Z"));
}

TEST_F(Parking, AnOperatorMayCancelACutSlice) {
  const auto program = deploy(timed_steps);
  start_and_crash(program, "cut");
  ASSERT_TRUE(core_->instances().request({"cut"}, CancelRequested{"enough"}, {}).has_value());
  EXPECT_EQ(row("cut").status, Status::cancelled);
  EXPECT_EQ(core_->due().resume_interrupted_slices(), 0u);
}

// What a newer node saw to in time is no reason to give up on what comes later.
TEST_F(Parking, EachMessageHasAGracePeriodOfItsOwn) {
  cached_ = 0;
  open();
  deploy(listener);
  start("listener", "l");
  const std::string only = " WHERE n = (SELECT n FROM wf_instances_base WHERE id = 'l')";
  const auto written_by_newer_node = [&](bool newer) {
    sql(std::string("UPDATE wf_runtime_states SET snapshot = replace(snapshot, ") +
        (newer ? "'\"format\":1,', '\"format\":99,')" : "'\"format\":99,', '\"format\":1,')") + only);
  };
  SignalRequest other;
  other.name = "go";
  other.payload = Json(1);
  written_by_newer_node(true);
  ASSERT_EQ(core_->instances().broadcast(other)->delivered.size(), 1u);
  core_->due().run_until_idle();
  EXPECT_EQ(row("l").status, Status::waiting);
  const std::int64_t first = store_->take_messages(10, Duration{})->size();
  EXPECT_EQ(first, 0) << "it is left for other nodes until the hold is over";
  // The newer node takes the message; a day later another one comes to the old node.
  Unit handled;
  clock_.advance(Duration::of_seconds(31));
  const auto taken = store_->take_messages(10, Duration::of_seconds(1));
  ASSERT_EQ(taken->size(), 1u);
  handled.message = taken->front().id;
  ASSERT_EQ(store_->commit(std::span(&handled, 1))->front().kind, CommitOutcome::Kind::done);
  clock_.advance(Duration::of_seconds(86'400));
  ASSERT_EQ(core_->instances().broadcast(other)->delivered.size(), 1u);
  core_->due().run_until_idle();
  EXPECT_EQ(row("l").status, Status::waiting) << "its grace period has only begun";
  EXPECT_TRUE(store_->list_dead_letters({})->items.empty());
  written_by_newer_node(false);
  clock_.advance(Duration::of_seconds(31));
  core_->due().run_until_idle();
  EXPECT_EQ(row("l").status, Status::completed);
}

}  // namespace
}  // namespace cairn
