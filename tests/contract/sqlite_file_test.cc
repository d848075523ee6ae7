// Problems of a file: a second owner, a newer schema, foreign content, no permission, a full disk, a damaged row. Each
// gives a clear error, nothing is lost, and other instances continue.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <set>

#include "base/clock.h"
#include "sample.h"
#include "store/open.h"
#include "store/sqlite/embedded_sql.h"

namespace cairn {
namespace {

namespace fs = std::filesystem;
using Kind = CommitOutcome::Kind;

class SqliteFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::string(fs::exists("/dev/shm") ? "/dev/shm/" : testing::TempDir().c_str()) + "cairn_file_" +
              std::to_string(::getpid());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = folder_ + "/store.db";
  }
  void TearDown() override {
    store_.reset();
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  void open() {
    store_.reset();
    auto opened = open_store("sqlite:" + path_, clock_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  Kind commit(const Advance& advance) {
    Unit unit;
    unit.advances = {advance};
    auto outcomes = store_->commit(std::span(&unit, 1));
    EXPECT_TRUE(outcomes.has_value()) << (outcomes ? "" : outcomes.error().message);
    return outcomes ? outcomes->front().kind : Kind::failed;
  }
  // Behind the store's back.
  void sql(const std::string& text) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, text.c_str(), nullptr, nullptr, &message), SQLITE_OK) << (message ? message : "");
    sqlite3_free(message);
    sqlite3_close(handle);
  }

  ManualClock clock_{sample::start_of_time};
  std::string folder_;
  std::string path_;
  std::unique_ptr<Store> store_;
};

TEST_F(SqliteFile, TheLibraryIsOneThatIsSafe) {
  EXPECT_GE(sqlite3_libversion_number(), 3051003);
  EXPECT_NE(sqlite3_libversion_number(), 3052000);
}

TEST_F(SqliteFile, ASecondOwnerIsToldWhoTheFirstIs) {
  open();
  const auto second = open_store("sqlite:" + path_, clock_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::conflict);
  EXPECT_NE(second.error().message.find(std::to_string(::getpid())), std::string::npos) << second.error().message;
}

TEST_F(SqliteFile, ASecondProcessIsRefusedToo) {
  open();
  const pid_t child = ::fork();
  if (child == 0) {
    ManualClock clock{sample::start_of_time};
    const auto second = open_store("sqlite:" + path_, clock);
    ::_exit(!second.has_value() && second.error().code == ErrorCode::conflict ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(SqliteFile, AKilledOwnerLeavesNoLock) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ManualClock clock{sample::start_of_time};
    auto mine = open_store("sqlite:" + path_, clock);
    const char ready = mine.has_value() ? 'y' : 'n';
    if (::write(pipe[1], &ready, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char ready = 'n';
  ASSERT_EQ(::read(pipe[0], &ready, 1), 1);
  ASSERT_EQ(ready, 'y');
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  open();
  ::close(pipe[0]);
  ::close(pipe[1]);
}

// The system clock of a machine, as a process that starts there sees it.
struct SystemTime {
  std::int64_t wall_s = 1'700'000'000;
  ForwardClock started() const {
    return ForwardClock([at = wall_s] { return ForwardClock::Reading{at * 1'000'000'000, 0}; });
  }
};

TEST_F(SqliteFile, TimeContinuesWhenTheClockWasSetBackWhileNoProcessRan) {
  SystemTime system;
  const auto with_store = [&](const std::function<void(Store&)>& use) {
    ForwardClock clock = system.started();
    auto opened = open_store("sqlite:" + path_, clock);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    use(**opened);
  };
  with_store([](Store& store) {
    const AuditRow row;
    ASSERT_TRUE(store.append_audit(std::span(&row, 1)).has_value());
  });
  system.wall_s -= 3600;
  with_store([](Store& store) { EXPECT_EQ(store.now().seconds, 1'700'000'000); });
  // Without new rows the time of the close counts.
  system.wall_s += 3 * 3600;
  with_store([](Store& store) { EXPECT_EQ(store.now().seconds, 1'700'007'200); });
  system.wall_s -= 3600;
  with_store([](Store& store) { EXPECT_EQ(store.now().seconds, 1'700'007'200); });
  // A clock that was far ahead once was wrong then.
  system.wall_s = 1'900'000'000;
  with_store([](Store& store) { EXPECT_EQ(store.now().seconds, 1'900'000'000); });
  system.wall_s = 1'700'010'000;
  with_store([](Store& store) { EXPECT_EQ(store.now().seconds, 1'700'010'000); });
}

TEST_F(SqliteFile, FilesThatOtherUsersMayAccessAreMadePrivate) {
  open();
  commit(sample::begin("a"));
  store_.reset();
  fs::permissions(path_, fs::perms::owner_all | fs::perms::group_read | fs::perms::others_read);
  open();
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  for (const auto& file : fs::directory_iterator(folder_)) {
    const fs::perms others = fs::perms::group_all | fs::perms::others_all;
    EXPECT_EQ(fs::status(file.path()).permissions() & others, fs::perms::none) << file.path();
  }
}

TEST_F(SqliteFile, CanBeReadBesideItsOwner) {
  open();
  commit(sample::begin("a"));
  auto reader = open_store("sqlite:" + path_, clock_, StoreMode::read_only);
  ASSERT_TRUE(reader.has_value()) << reader.error().message;
  EXPECT_TRUE((*reader)->find_instance({"a"})->has_value());
  commit(sample::begin("b"));
  EXPECT_TRUE((*reader)->find_instance({"b"})->has_value());
  EXPECT_EQ((*reader)->record_signal(sample::signal("s", "x")).error().code, ErrorCode::not_allowed);
  EXPECT_EQ((*reader)->take_messages(1, {}).error().code, ErrorCode::not_allowed);
}

TEST_F(SqliteFile, ReadingWhatIsNotThereDoesNotMakeIt) {
  EXPECT_EQ(open_store("sqlite:" + path_, clock_, StoreMode::read_only).error().code, ErrorCode::not_found);
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(SqliteFile, ANewerSchemaIsRefusedAndLeftAlone) {
  open();
  commit(sample::begin("a"));
  const int schema = *store_->schema_version();
  store_.reset();
  sql("PRAGMA user_version = 999");
  const auto refused = open_store("sqlite:" + path_, clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_NE(refused.error().message.find("999"), std::string::npos);
  sql("PRAGMA user_version = " + std::to_string(schema));
  open();
  EXPECT_TRUE(store_->find_instance({"a"})->has_value());
}

TEST_F(SqliteFile, AStoreFromBeforeTheFirstReleaseIsRefusedAndLeftAlone) {
  sql("CREATE TABLE wf_instances_base (n INTEGER PRIMARY KEY); PRAGMA application_id = 1668443697; PRAGMA user_version "
      "= "
      "13");
  const auto before = fs::file_size(path_);
  for (const StoreMode mode : {StoreMode::own, StoreMode::read_only}) {
    const auto refused = open_store("sqlite:" + path_, clock_, mode);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
    EXPECT_NE(refused.error().message.find("pre-release version of cairn (schema 13)"), std::string::npos)
        << refused.error().message;
  }
  EXPECT_EQ(fs::file_size(path_), before);
}

TEST_F(SqliteFile, AnEmptyDatabaseOfAnotherProgramIsRefused) {
  sql("CREATE TABLE customers (id INTEGER); DROP TABLE customers");
  const auto refused = open_store("sqlite:" + path_, clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

TEST_F(SqliteFile, SomebodyElsesDatabaseIsRefused) {
  sql("CREATE TABLE customers (id INTEGER)");
  const auto refused = open_store("sqlite:" + path_, clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
}

TEST_F(SqliteFile, SomethingThatIsNoDatabaseIsRefused) {
  FILE* file = std::fopen(path_.c_str(), "w");
  for (int i = 0; i < 1000; ++i) std::fputs("this is not a database\n", file);
  std::fclose(file);
  const auto refused = open_store("sqlite:" + path_, clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
}

TEST_F(SqliteFile, AFolderThatDoesNotExistIsAClearError) {
  const auto refused = open_store("sqlite:" + folder_ + "/no/where.db", clock_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
  EXPECT_NE(refused.error().message.find("no/where.db"), std::string::npos);
}

TEST_F(SqliteFile, AReadOnlyFileIsAClearError) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is read-only for root";
  open();
  store_.reset();
  fs::permissions(path_, fs::perms::owner_read);
  EXPECT_EQ(open_store("sqlite:" + path_, clock_).error().code, ErrorCode::unavailable);
}

TEST_F(SqliteFile, ADamagedSnapshotIsOneInstancesTrouble) {
  open();
  commit(sample::begin("a"));
  commit(sample::begin("b"));
  store_.reset();
  sql("UPDATE wf_runtime_states SET snapshot = replace(snapshot, 'begun', 'bogus') "
      "WHERE n = (SELECT n FROM wf_instances_base WHERE id = 'a')");
  open();
  EXPECT_EQ(store_->find_snapshot({"a"}).error().code, ErrorCode::corrupt);
  EXPECT_TRUE(store_->find_instance({"a"})->has_value()) << "people must still find it";
  EXPECT_TRUE(store_->find_snapshot({"b"})->has_value());
  EXPECT_EQ(commit(sample::next(sample::begin("b").after)), Kind::done);
}

TEST_F(SqliteFile, AMessageThatCannotBeReadGoesToTheDeadLettersAndTheRestGoesOn) {
  open();
  commit(sample::begin("a"));
  Unit unit;
  unit.messages = {Message{0, {"a"}, Message::Kind::cancel, Json::object(), {}},
                   Message{0, {"a"}, Message::Kind::cancel, Json::object({{"reason", "x"}}), {}}};
  ASSERT_TRUE(store_->commit(std::span(&unit, 1)).has_value());
  store_.reset();
  sql("UPDATE wf_signal_q SET body = '{broken' WHERE n = (SELECT min(n) FROM wf_signal_q)");
  open();
  const auto taken = store_->take_messages(10, Duration::of_seconds(1));
  ASSERT_TRUE(taken.has_value()) << taken.error().message;
  EXPECT_EQ(taken->size(), 1u);
  ASSERT_EQ(store_->list_dead_letters({})->items.size(), 1u);
  EXPECT_EQ(store_->list_dead_letters({})->items[0].envelope["unreadable"], Json("{broken"));
  EXPECT_FALSE(store_->list_dead_letters({})->items[0].node.empty());
}

TEST_F(SqliteFile, ARowThatBreaksARuleFailsAloneInItsBatch) {
  open();
  Advance first = sample::begin("a");
  sample::add_task(first, "t");
  commit(first);
  std::vector<Unit> units(3);
  units[0].advances = {sample::begin("b")};
  units[1].advances = {sample::begin("c")};
  sample::add_task(units[1].advances[0], "t");  // a task id that is taken
  units[2].advances = {sample::begin("d")};
  const auto outcomes = store_->commit(units);
  ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
  EXPECT_EQ((*outcomes)[0].kind, Kind::done);
  EXPECT_EQ((*outcomes)[1].kind, Kind::failed);
  EXPECT_EQ((*outcomes)[2].kind, Kind::done);
  EXPECT_FALSE(store_->find_instance({"c"})->has_value());
}

TEST_F(SqliteFile, AFinishedRunIsProtectedByTheDatabaseItself) {
  open();
  ASSERT_TRUE(store_->submit_run(sample::run("r")).has_value());
  const RunRow run = store_->lease_runs({"w", {}, {}, 1, Duration::of_seconds(9)})->at(0);
  Unit unit;
  unit.run = RunEnd{run.id, run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
  ASSERT_TRUE(store_->commit(std::span(&unit, 1)).has_value());
  store_.reset();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
  EXPECT_NE(sqlite3_exec(handle, "UPDATE workflow_run SET status = 'pending'", nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(handle);
}

TEST_F(SqliteFile, APlainInsertIsAValidRun) {
  open();
  store_.reset();
  sql("INSERT INTO workflow_run (type, payload) VALUES ('default.plain', '{\"x\":1}')");
  open();
  clock_.set(Timestamp{4'000'000'000, 0});
  const auto leased = store_->lease_runs({"w", {}, {}, 1, Duration::of_seconds(9)});
  ASSERT_TRUE(leased.has_value()) << leased.error().message;
  ASSERT_EQ(leased->size(), 1u);
  EXPECT_TRUE(is_uuid(leased->at(0).id.value)) << leased->at(0).id.value;
  EXPECT_EQ(leased->at(0).payload, Json::object({{"x", 1}}));
  EXPECT_EQ(leased->at(0).attempts_max, 3);
}

// Runs of an instance are found by the prefix that their ids share with the instance's, or else by an index.
TEST_F(SqliteFile, RunsThatAnotherProgramInsertedAreFound) {
  open();
  store_.reset();
  sql(R"(INSERT INTO workflow_run (id, type, status, idempotency_key, instance) VALUES
    ('018bcfe5-6800-8111-8000-000000000001', 'default.a', 'succeeded', 'i/1', '018bcfe5-6800-7222-8000-000000000002'),
    ('018bcfe5-9999-8111-8000-000000000003', 'default.a', 'succeeded', 'i/2', '018bcfe5-6800-7222-8000-000000000002'),
    ('018bcfe5-6800-8111-8000-000000000004', 'default.a', 'succeeded', 'j/1', '018bcfe5-6800-7222-8000-000000000005'),
    ('018bcfe5-6800-8111-8000-000000000006', 'default.b', 'pending', 'mine', NULL))");
  sql("INSERT INTO workflow_event (run, kind, at, attempt, actor) SELECT n, 'created', 5, 0, 'w' FROM workflow_run");
  open();
  RunFilter of_instance;
  of_instance.instance = InstanceId{"018bcfe5-6800-7222-8000-000000000002"};
  const auto runs = store_->list_runs(of_instance, {10, ""});
  ASSERT_TRUE(runs.has_value()) << runs.error().message;
  ASSERT_EQ(runs->items.size(), 2u);
  EXPECT_EQ(runs->items[0].id.value, "018bcfe5-9999-8111-8000-000000000003");  // its id begins otherwise
  EXPECT_EQ(runs->items[1].id.value, "018bcfe5-6800-8111-8000-000000000001");
  for (const RunRow& run : runs->items) EXPECT_EQ(store_->run_events(run.id)->size(), 1u);

  RunRow again = sample::run("again");
  again.idempotency_key = "mine";
  const auto submitted = store_->submit_run(again);
  ASSERT_TRUE(submitted.has_value()) << submitted.error().message;
  EXPECT_FALSE(submitted->second);
  EXPECT_EQ(submitted->first.id.value, "018bcfe5-6800-8111-8000-000000000006");
  store_.reset();
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &handle), SQLITE_OK);
  const auto refused = [handle](const char* text) {
    return sqlite3_exec(handle, text, nullptr, nullptr, nullptr) != SQLITE_OK;
  };
  EXPECT_TRUE(refused("UPDATE workflow_run SET status = 'pending' WHERE status = 'succeeded'"));
  EXPECT_TRUE(refused("INSERT INTO workflow_run (type, idempotency_key) VALUES ('default.b', 'mine')"));
  EXPECT_TRUE(refused("INSERT INTO workflow_run (type, status) VALUES ('default.b', 'lost')"));
  sqlite3_close(handle);
}

// Runs in a child process with a limit on the file size, which SQLite sees as a full disk.
TEST_F(SqliteFile, AFullDiskLosesNothingAndHealsByItself) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    ManualClock clock{sample::start_of_time};
    auto store = open_store("sqlite:" + path_, clock);
    if (!store) ::_exit(10);
    const auto put = [&](const std::string& id) {
      Unit unit;
      unit.advances = {sample::begin(id)};
      unit.advances[0].after.state = Json::object({{"text", std::string(20'000, 'x')}});
      return (*store)->commit(std::span(&unit, 1));
    };
    if (!put("before")) ::_exit(11);
    const rlimit full{1u << 20, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &full);
    std::string last = "before";
    bool refused = false;
    for (int i = 0; i < 200 && !refused; ++i) {
      const std::string id = "i" + std::to_string(i);
      auto outcome = put(id);
      if (outcome) {
        last = id;
      } else {
        refused = true;
        if (outcome.error().code != ErrorCode::unavailable) ::_exit(12);
      }
    }
    if (!refused) ::_exit(13);
    auto found = (*store)->find_instance({last});
    if (!found || !*found) ::_exit(14);  // reads continue, and everything acknowledged exists
    const rlimit freed{RLIM_INFINITY, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &freed);
    if (!put("after")) ::_exit(15);  // no restart needed
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  open();
  EXPECT_TRUE(store_->find_instance({"before"})->has_value());
  EXPECT_TRUE(store_->find_instance({"after"})->has_value());
}

// Retention looks through all that has ended. Commits must not wait for that.
TEST_F(SqliteFile, RetentionThatRemovesNothingNeedsNoWriter) {
  open();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(other);
  for (const auto& statuses : {std::vector<Status>(), std::vector<Status>{Status::completed}}) {
    const auto outcome = store_->retire_instances({statuses, clock_.now(), 10});
    EXPECT_TRUE(outcome.has_value()) << outcome.error().message;
  }
  sqlite3_close(other);
}

TEST_F(SqliteFile, RetentionRemovesLargeTreesInParts) {
  open();
  sql("WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < 1799) "
      "INSERT INTO wf_instances_base (id, definition, definition_version, digest, status, parent, started_at, "
      "changed_at, ended_at) "
      "SELECT 'i-' || i, 'd', '1', 'x', 'completed', CASE WHEN i % 600 > 0 THEN 'i-' || (i - i % 600 + (i % 600 - 1) / "
      "3) END, "
      "1, 2, 3 FROM c");
  std::size_t gone = 0;
  for (bool more = true; more;) {
    const auto outcome = store_->retire_instances({{Status::completed}, clock_.now(), 100});
    ASSERT_TRUE(outcome.has_value()) << outcome.error().message;
    EXPECT_LE(outcome->instances, 500u) << "commits wait meanwhile";
    gone += outcome->instances;
    more = outcome->more;
    // What is left is whole: every instance has its parent.
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
    sqlite3_stmt* orphans = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(other,
                                 "SELECT count(*) FROM wf_instances_base c WHERE c.parent IS NOT NULL "
                                 "AND NOT EXISTS (SELECT 1 FROM wf_instances_base p WHERE p.id = c.parent)",
                                 -1, &orphans, nullptr),
              SQLITE_OK);
    ASSERT_EQ(sqlite3_step(orphans), SQLITE_ROW);
    EXPECT_EQ(sqlite3_column_int(orphans, 0), 0);
    sqlite3_finalize(orphans);
    sqlite3_close(other);
  }
  EXPECT_EQ(gone, 1800u);
}

// How SQLite would execute a statement of the store, line by line.
class SqlitePlans : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(sqlite3_open(":memory:", &handle_), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(handle_, sqlite::schema_text, nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(handle_);
    for (const auto& step : sqlite::migrations()) {
      ASSERT_EQ(sqlite3_exec(handle_, step.text, nullptr, nullptr, nullptr), SQLITE_OK) << step.name;
    }
  }
  void TearDown() override { sqlite3_close(handle_); }
  std::vector<std::string> plan_of(const std::string& name) {
    const std::string all(sqlite::statements_text);
    const std::string head = "-- name: " + name + "\n";
    const std::size_t begin = all.find(head);
    EXPECT_NE(begin, std::string::npos) << name;
    if (begin == std::string::npos) return {};
    const std::size_t from = begin + head.size();
    const std::string text = "EXPLAIN QUERY PLAN " + all.substr(from, all.find("-- name: ", from) - from);
    sqlite3_stmt* plan = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(handle_, text.c_str(), -1, &plan, nullptr), SQLITE_OK) << sqlite3_errmsg(handle_);
    std::vector<std::string> lines;
    while (plan != nullptr && sqlite3_step(plan) == SQLITE_ROW) {
      lines.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(plan, 3)));
    }
    sqlite3_finalize(plan);
    return lines;
  }

 private:
  sqlite3* handle_ = nullptr;
};

// What dispatching costs must not depend on how many events wait: each of its statements finds its rows by an index and
// in the index's order. Only new events are read from the beginning of an index that has nothing else.
TEST_F(SqlitePlans, DispatchingReadsNoEventThatItDoesNotTake) {
  for (const std::string name :
       {"insert_event", "new_events", "queue_event", "assign_event", "due_retries", "due_events", "later_events",
        "unqueue_event", "retry_event", "next_of_subject", "publish_event", "next_retry", "insert_delivery"}) {
    for (const std::string& line : plan_of(name)) {
      const bool queue = name == "new_events" && line == "SCAN outbox_event USING INDEX outbox_event_new";
      EXPECT_TRUE(queue || !line.starts_with("SCAN")) << name << ": " << line;
      EXPECT_EQ(line.find("TEMP B-TREE"), std::string::npos) << name << ": " << line;
    }
  }
}

// What metrics cost must not depend on how much has ended. They read indexes of open work from the beginning, and dead
// letters.
TEST_F(SqlitePlans, MetricsReadNothingThatHasEnded) {
  const std::set<std::string> open = {"wf_tasks_inbox", "workflow_run_leased", "outbox_event_waiting",
                                      "wf_signal_q_ready"};
  for (const std::string name : {"figures", "figures_of_definitions", "figures_of_queues"}) {
    for (const std::string& line : plan_of(name)) {
      EXPECT_EQ(line.find("TEMP B-TREE"), std::string::npos) << name << ": " << line;
      if (!line.starts_with("SCAN wf_") && !line.starts_with("SCAN workflow_") && !line.starts_with("SCAN outbox_"))
        continue;
      const std::size_t index = line.find(" USING ");
      EXPECT_TRUE(line == "SCAN wf_dlq_q" ||
                  (index != std::string::npos && open.contains(line.substr(line.rfind(' ') + 1))))
          << name << ": " << line;
    }
  }
}

}  // namespace
}  // namespace cairn
