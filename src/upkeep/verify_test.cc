// Breaks each invariant by hand and checks that verify names it.
#include "upkeep/verify.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/open.h"

namespace cairn {
namespace {

constexpr const char* worker = R"(
cairn: 1
name: worker
version: 1.0.0
steps:
  - parallel:
      branches:
        person: [ { task: { name: Look, exclude: [eve], four_eyes: [Sign] } }, { task: { name: Sign } } ]
        machine: [ { call: { worker: { type: w.v1 } } } ]
        clock: [ { wait: 1h } ]
        child: [ { subworkflow: { name: inner, input: {} } } ]
        other: [ { signal: { name: s } } ]
  - emit: { type: done, subject: S }
)";
constexpr const char* inner = R"(
cairn: 1
name: inner
version: 1.0.0
steps: [ { emit: { type: begun, subject: S } }, { emit: { type: going, subject: S } }, { wait: 2h } ]
)";

class Verify : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::string(std::filesystem::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) +
              "cairn_verify_" + std::to_string(::getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    open();
    for (const char* text : {inner, worker}) {
      ASSERT_TRUE(core_->registry().deploy(load_definition(text, "test").program).has_value());
    }
    StartRequest request;
    request.definition = "worker";
    request.id = "a";
    ASSERT_TRUE(core_->instances().start(request).has_value());
    ASSERT_EQ(findings(), std::vector<std::string>{}) << "the store is sound before anything is broken";
  }
  virtual std::string url() const { return "sqlite:" + folder_ + "/store.db"; }
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
    store_ = std::move(*open_store(url(), clock_));
    CoreOptions options;
    options.strict_definitions = false;
    core_ = std::move(*EngineCore::open(*store_, options));
  }
  // Bypasses the store.
  void sql(const std::string& text) {
    close();
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open((folder_ + "/store.db").c_str(), &db), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(db, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
    sqlite3_free(message);
    sqlite3_close(db);
    open();
  }
  // Commits the next state version of `a` with damage but a correct checksum.
  void commit(const std::function<void(Snapshot&)>& damage) {
    Unit unit;
    unit.advances.resize(1);
    Advance& advance = unit.advances[0];
    advance.after = **store_->find_snapshot({"a"});
    advance.from_state_version = advance.after.state_version++;
    damage(advance.after);
    const auto outcome = store_->commit(std::span(&unit, 1));
    ASSERT_TRUE(outcome.has_value());
    ASSERT_EQ(outcome->front().kind, CommitOutcome::Kind::done);
  }
  // The names of the findings, without duplicates.
  std::vector<std::string> findings() {
    const auto report = verify_store(*store_);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    std::vector<std::string> names;
    if (!report) return names;
    for (const Finding& finding : report->findings) names.push_back(finding.invariant.substr(0, 4));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }
  void expect(const std::string& name) {
    const auto found = findings();
    EXPECT_TRUE(std::find(found.begin(), found.end(), name) != found.end())
        << name << " not among " << testing::PrintToString(found);
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  std::string folder_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<EngineCore> core_;
};

// A store of values, for damage that the decoder of other stores would refuse.
class VerifyValues : public Verify {
  std::string url() const override { return "memory:"; }
};

TEST_F(Verify, I01AHistoryAheadOfItsInstance) {
  sql("UPDATE wf_execution_log_base SET state_version = 9");
  expect("I-01");
}
TEST_F(Verify, I02ASnapshotThatWasChanged) {
  sql("UPDATE wf_runtime_states SET snapshot = replace(snapshot, '\"state_version\":1', '\"state_version\":2')");
  expect("I-02");
}
TEST_F(Verify, I05AWaitWithoutItsRow) {
  sql("DELETE FROM wf_waits_base WHERE kind = 'signal'");
  expect("I-05");
}
TEST_F(VerifyValues, I05AWaitOfNoStrand) {
  commit([](Snapshot& snapshot) { snapshot.strands.back().waits.clear(); });
  expect("I-05");
}
TEST_F(Verify, I07ARunThatIsGone) {
  sql("DELETE FROM workflow_run");
  expect("I-07");
}
TEST_F(Verify, I07ARunThatIsDeletedWhileItIsAwaited) {
  sql("UPDATE workflow_run SET deleted_at = 1");
  expect("I-07");
}
TEST_F(Verify, I08ATimerThatIsGone) {
  sql("DELETE FROM wf_timer_q");
  expect("I-08");
}
TEST_F(Verify, I08ATimerAtAnotherTime) {
  sql("UPDATE wf_timer_q SET due = due + 1");
  expect("I-08");
}
TEST_F(VerifyValues, I10ASignalThatIsKeptTwice) {
  commit([](Snapshot& snapshot) {
    for (int i = 0; i < 2; ++i) snapshot.signals.push_back({"x", "s", Json(), Json(), snapshot.changed_at});
  });
  expect("I-10");
}
TEST_F(Verify, I12ATaskThatNobodyWaitsFor) {
  sql("UPDATE wf_tasks SET token = 'another'");
  expect("I-12");
}
TEST_F(Verify, I12AnInstanceThatWaitsForAClosedTask) {
  sql("UPDATE wf_tasks SET status = 'completed'");
  expect("I-12");
}
TEST_F(Verify, I12AStatusThatIsShownWrongly) {
  sql("UPDATE wf_instances_base SET status = 'completed' WHERE id = 'a'");
  expect("I-12");
}
TEST_F(Verify, I13TaskEventsThatDoNotFit) {
  sql("INSERT INTO wf_task_events (task, kind, at, actor) SELECT n, 'released', 1, 'x' FROM wf_tasks");
  expect("I-13");
}
TEST_F(Verify, I14SomebodyWhoWasExcluded) {
  sql("UPDATE wf_tasks SET status = 'completed', completed_by = 'eve'");
  expect("I-14");
}
TEST_F(Verify, I14OnePersonWithTwoTasksOfAGroup) {
  commit([](Snapshot& snapshot) { snapshot.completed_tasks = {{"Look", "ann"}, {"Sign", "ann"}}; });
  expect("I-14");
}
TEST_F(Verify, I05AKeptSignalWithoutItsTimer) {
  commit([](Snapshot& snapshot) {
    BufferedSignal kept{.id = "k", .name = "x", .key = {}, .payload = {}, .at = snapshot.changed_at};
    kept.until = snapshot.changed_at;
    kept.token = {"no-row"};
    snapshot.signals.push_back(std::move(kept));
  });
  expect("I-05");
}
TEST_F(Verify, I15ALeaseWithoutAHolder) {
  sql("UPDATE workflow_run SET status = 'leased'");
  expect("I-15");
}
TEST_F(Verify, I16MoreAttemptsThanAllowed) {
  sql("UPDATE workflow_run SET attempt = max_attempts + 1");
  expect("I-16");
}
TEST_F(Verify, I16ARunThatWasGivenUpTwice) {
  DeadLetter letter;
  letter.kind = "run";
  letter.envelope = Json::object({{"run", "r"}});
  letter.reason = "lost";
  letter.node = "n";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(store_->put_dead_letter(letter).has_value());
  expect("I-16");
}
TEST_F(Verify, I16ALetterWithoutAReason) {
  DeadLetter letter;
  letter.kind = "message";
  letter.envelope = Json::object();
  letter.node = "n";
  ASSERT_TRUE(store_->put_dead_letter(letter).has_value());
  expect("I-16");
}
TEST_F(Verify, I07ARunThatWasDeletedBeforeItEnded) {
  sql("UPDATE workflow_run SET deleted_at = 1, delete_reason = 'tidy'");
  expect("I-07");
}
TEST_F(VerifyValues, I07AStrandThatWaitsForNothing) {
  commit([](Snapshot& snapshot) {
    Strand& last = snapshot.strands.back();
    std::erase_if(snapshot.waits, [&](const Wait& wait) { return wait.strand == last.id; });
    last.waits.clear();
  });
  expect("I-07");
}
// An instance with a value that is stored apart from its snapshot.
class VerifyPieces : public Verify {
 protected:
  void SetUp() override {
    Verify::SetUp();
    StartRequest request;
    request.definition = "worker";
    request.id = "large";
    request.input = Json::object({{"doc", std::string(50'000, 'x')}});
    ASSERT_TRUE(core_->instances().start(request).has_value());
    ASSERT_EQ(store_->list_pieces({"large"})->size(), 1u);
    ASSERT_EQ(findings(), std::vector<std::string>{});
  }
};

TEST_F(VerifyPieces, I02APieceThatWasChanged) {
  sql("UPDATE wf_pieces SET body = replace(body, 'xxxx', 'xxyx')");
  EXPECT_EQ(findings(), (std::vector<std::string>{"I-02"}));
}
TEST_F(VerifyPieces, I36APieceThatIsGone) {
  sql("DELETE FROM wf_pieces");
  EXPECT_EQ(findings(), (std::vector<std::string>{"I-02", "I-36"}));
}
TEST_F(VerifyPieces, I36AUseThatIsMissing) {
  sql("DELETE FROM wf_piece_uses");
  EXPECT_EQ(findings(), (std::vector<std::string>{"I-36"}));
}
TEST_F(VerifyPieces, I36AUseThatIsLeft) {
  sql("INSERT INTO wf_piece_uses SELECT i.n, p.n FROM wf_instances_base i, wf_pieces p WHERE i.id = 'a'");
  EXPECT_EQ(findings(), (std::vector<std::string>{"I-36"}));
}
TEST_F(VerifyPieces, I36AUseOfNoInstance) {
  sql("INSERT INTO wf_piece_uses SELECT 4711, n FROM wf_pieces");
  EXPECT_EQ(findings(), (std::vector<std::string>{"I-36"}));
}
TEST_F(VerifyPieces, I36APieceThatNoInstanceUses) {
  sql("INSERT INTO wf_pieces (hash, body) VALUES ('00', '1')");
  EXPECT_EQ(findings(), (std::vector<std::string>{"I-36"}));
}

TEST_F(Verify, I34RowsThatCannotBeReadAreNamedAndTheOthersAreChecked) {
  StartRequest request;
  request.definition = "worker";
  for (const char* id : {"b", "c"}) {
    request.id = id;
    ASSERT_TRUE(core_->instances().start(request).has_value());
  }
  sql("UPDATE wf_instances_base SET status = 'bogus' WHERE id = 'b';"
      "UPDATE wf_tasks SET payload = '{' WHERE instance = (SELECT n FROM wf_instances_base WHERE id = 'a');"
      "DELETE FROM wf_runtime_states WHERE n = (SELECT n FROM wf_instances_base WHERE id = 'c')");
  const auto report = verify_store(*store_);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  std::string text;
  for (const Finding& finding : report->findings) {
    if (finding.invariant.starts_with("I-34")) text += finding.subject + ": " + finding.message + "\n";
  }
  for (const char* named : {"instance b", "instance c", "task "}) {
    EXPECT_NE(text.find(named), std::string::npos) << named << " is not named in:\n" << text;
  }
  EXPECT_EQ(report->instances, 4u) << "a and three children: the others go on";
  EXPECT_EQ(store_->find_instance({"c"}).error().code, ErrorCode::corrupt) << "it is not absent";
  EXPECT_EQ(store_->find_snapshot({"c"}).error().code, ErrorCode::corrupt);
}
TEST_F(Verify, I35ADamagedPageIsNamedWithWhatIsLost) {
  StartRequest request;
  request.definition = "worker";
  for (int i = 0; i < 40; ++i) {
    request.id = "many-" + std::to_string(i);
    ASSERT_TRUE(core_->instances().start(request).has_value());
  }
  close();
  const std::string path = folder_ + "/store.db";
  std::string bytes;
  {
    std::ifstream in(path, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  const std::size_t at = bytes.find("\"many-20\"");  // in its snapshot
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = 0; i < 20; ++i) bytes[at + i] = 'x';
  {
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  EXPECT_EQ(open_store(url(), clock_).error().code, ErrorCode::corrupt) << "nobody writes to it";
  store_ = std::move(*open_store(url(), clock_, StoreMode::read_only));
  const auto report = verify_store(*store_);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  bool named = false;
  for (const Finding& finding : report->findings) {
    if (finding.invariant.starts_with("I-35")) named = named || finding.message.find("many-20") != std::string::npos;
  }
  EXPECT_TRUE(named);
  EXPECT_GT(report->instances, 60u) << "those on other pages are checked";
  EXPECT_GT(report->tasks, 30u);
}
TEST_F(Verify, I17AKeyThatNamesNobody) {
  sql("UPDATE workflow_run SET idempotency_key = 'x'");
  expect("I-17");
}
TEST_F(Verify, I18ARunThatNobodyAskedFor) {
  sql("UPDATE workflow_run SET token = 'another'");
  expect("I-18");
}
TEST_F(Verify, I19AnEventThatWasWrittenTwice) {
  sql("UPDATE outbox_event SET id = (SELECT min(id) FROM outbox_event)");
  expect("I-19");
}
TEST_F(Verify, I20AChildThatEndedUnheard) {
  sql("UPDATE wf_instances_base SET status = 'completed', ended_at = 1 WHERE id <> 'a'");
  expect("I-20");
}
TEST_F(VerifyValues, I21AStrandThatJoinsNobody) {
  commit([](Snapshot& snapshot) { snapshot.strands.back().parent = 999; });
  expect("I-21");
}
TEST_F(VerifyValues, I22AnEndedInstanceThatWaits) {
  commit([](Snapshot& snapshot) { snapshot.status = Status::completed; });
  expect("I-22");
}
TEST_F(VerifyValues, I23AnEndedInstanceWithLiveWork) {
  commit([](Snapshot& snapshot) {
    snapshot.status = Status::cancelled;
    snapshot.waits.clear();
    snapshot.strands.clear();
  });
  expect("I-23");
}
TEST_F(Verify, I22AnEndedInstanceWithoutAnEnd) {
  ASSERT_TRUE(core_->instances().request({"a"}, CancelRequested{}, {}).has_value());
  core_->due().run_until_idle();
  ASSERT_EQ(findings(), std::vector<std::string>{});
  sql("UPDATE wf_instances_base SET ended_at = NULL");
  expect("I-22");
}
TEST_F(Verify, I24ADefinitionWithAnotherDigest) {
  sql("UPDATE wf_definitions SET digest = 'x'");
  expect("I-24");
}
TEST_F(Verify, I25AChildWithoutItsParent) {
  sql("DELETE FROM wf_runtime_states WHERE n = (SELECT n FROM wf_instances_base WHERE id = 'a');"
      "DELETE FROM wf_instances_base WHERE id = 'a'");
  expect("I-25");
}
TEST_F(Verify, I28AnAuditRowThatWasChanged) {
  AuditRow row;
  row.who = "ann";
  row.what = "instance.cancel";
  ASSERT_TRUE(store_->append_audit(std::span(&row, 1)).has_value());
  ASSERT_EQ(findings(), std::vector<std::string>{});
  sql("DROP TRIGGER wf_audit_is_not_changed; UPDATE wf_audit SET who = 'eve'");
  expect("I-28");
}

}  // namespace
}  // namespace cairn
