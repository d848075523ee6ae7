// Other contents of a database must not affect a store: foreign functions, publications, timeouts, accumulated rows.
// Each test has its own database.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/id.h"
#include "contract/sample.h"
#include "postgres/run_queue_fixture.h"
#include "store/open.h"
#include "store/postgres/wire/connection.h"
#include "store/projection.h"

namespace cairn {

namespace {

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

class Database : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    name_ = "other_" + std::to_string(::getpid());
    outside("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
    outside("CREATE DATABASE " + name_);
    const auto at = server_.find("/cairn?");
    ASSERT_NE(at, std::string::npos) << server_;
    url_ = server_;
    url_.replace(at, 7, "/" + name_ + "?");
  }
  void TearDown() override {
    store_.reset();
    connection_.reset();
    if (!server_.empty()) outside("DROP DATABASE IF EXISTS " + name_ + " WITH (FORCE)");
  }

  static std::string run(PGconn* connection, const std::string& text) {
    PGresult* result = PQexec(connection, text.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << text << PQerrorMessage(connection);
    const std::string value =
        status == PGRES_TUPLES_OK && PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : std::string();
    PQclear(result);
    return value;
  }
  std::string sql(const std::string& text) {
    if (!connection_) {
      connection_.reset(PQconnectdb(url_.c_str()));
      run(connection_.get(), "SET client_min_messages = error");
    }
    return run(connection_.get(), text);
  }
  void open(const std::string& options = "") {
    auto opened = open_store(url_ + options, clock_);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    store_ = std::move(*opened);
  }
  void submit(std::size_t count) {
    std::vector<RunRow> runs(count);
    for (RunRow& run : runs) {
      run.id = {new_uuid(store_->now())};
      run.type = "default.a";
      run.timeout = Duration::of_seconds(60);
    }
    ASSERT_TRUE(store_->submit_runs(runs).has_value());
  }
  std::vector<RunRow> lease(std::size_t count) {
    auto leased = store_->lease_runs({"w", {"default."}, {}, count, Duration::of_seconds(60)});
    EXPECT_TRUE(leased.has_value()) << (leased ? "" : leased.error().message);
    return leased ? std::move(*leased) : std::vector<RunRow>();
  }
  void change(RunChange::Kind kind, const RunRow& run) {
    RunChange asked;
    asked.kind = kind;
    asked.run = run.id;
    asked.fence = run.fence;
    asked.error = Json::object({{"code", "e"}});
    const auto changed = store_->change_run(asked);
    EXPECT_TRUE(changed.has_value()) << (changed ? "" : changed.error().message);
  }
  template <class T>
  static void expect_lost(const Result<T>& result, const std::string& why) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::unavailable) << result.error().message;
    EXPECT_NE(result.error().message.find("store_lost"), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find(why), std::string::npos) << result.error().message;
  }
  // Old runs: those that belong to no instance stay, because they have just ended. And events that no sink has got.
  void keep_rows(int count, const std::string& standalone) {
    const std::string series = " FROM generate_series(1, " + std::to_string(count) + ") g";
    sql("SET session_replication_role = replica");
    sql("INSERT INTO cairn.workflow_run (type, status, instance, created_at, updated_at) SELECT 'default.a', "
        "'succeeded', CASE WHEN NOT (" +
        standalone + ") THEN 'i' END, now() - interval '3 h', CASE WHEN " + standalone +
        " THEN now() ELSE now() - interval '3 h' END" + series);
    sql("INSERT INTO cairn.outbox_event (event_type, created_at, by_engine) SELECT 't', now() - interval '3 h', true" +
        series);
    sql("SET session_replication_role = DEFAULT");
    sql("ANALYZE");
  }
  void expect_read_once(double kept) {
    constexpr int sweeps = 10;
    const auto rows_read = [this] {
      sql("SELECT pg_stat_clear_snapshot()");
      return std::stod(
          sql("SELECT sum(coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0)) FROM pg_stat_user_tables WHERE "
              "relname IN ('workflow_run', 'outbox_event')"));
    };
    const double before = rows_read();
    RowRetention request;
    request.runs_before = request.outbox_before = after(store_->now(), Duration::of_seconds(-7200));
    for (int i = 0; i < sweeps; ++i) {
      const auto retired = store_->retire_rows(request);
      ASSERT_TRUE(retired.has_value()) << retired.error().message;
      EXPECT_EQ(retired->runs + retired->outbox, 0u);
    }
    // Connections tell what they read when they end, a moment later.
    store_.reset();
    double read = 0;
    for (int tries = 0; read < kept && tries < 10'000; ++tries) read = rows_read() - before;
    EXPECT_GE(read, kept);
    EXPECT_LT(read, 2 * kept);
  }
  std::vector<OutboxRow> claim() {
    const SinkFilter sink{"s"};
    auto claimed = store_->claim_outbox({&sink, 1}, {sink.name, 10, Duration::of_seconds(60)});
    EXPECT_TRUE(claimed.has_value()) << (claimed ? "" : claimed.error().message);
    return claimed ? std::move(*claimed) : std::vector<OutboxRow>();
  }
  // Something of everything that runs go through, also by a program.
  void work() {
    submit(6);
    RunTypeRow rule;
    rule.type = "default.b";
    rule.concurrency = 1;
    rule.rate = 5;
    ASSERT_TRUE(store_->put_run_type(rule).has_value());
    sql("INSERT INTO cairn.workflow_run (type, timeout_ms) VALUES ('default.b', 60000), ('default.c', 60000)");
    const auto leased = lease(5);
    ASSERT_EQ(leased.size(), 5u);
    change(RunChange::Kind::heartbeat, leased[0]);
    change(RunChange::Kind::retry, leased[1]);
    change(RunChange::Kind::release, leased[2]);
    change(RunChange::Kind::cancel, leased[3]);
    const RunEnd end{leased[4].id, leased[4].fence, RunStatus::succeeded, Json(1), Json(), "w"};
    ASSERT_TRUE(store_->end_runs(std::span(&end, 1)).has_value());
    // Without an operator that its own session would look for elsewhere.
    sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = pg_catalog.now() "
        "WHERE type LIKE 'default.c' AND status LIKE 'pending'");
    sql("INSERT INTO cairn.outbox_event (event_type) VALUES ('t')");
    EXPECT_EQ(claim().size(), 1u);
    EXPECT_TRUE(store_->next_due(store_->now()).has_value());
    EXPECT_TRUE(store_->exhausted_runs(10).has_value());
    EXPECT_TRUE(store_->figures(100).has_value());
    RowRetention retention;
    retention.runs_before = retention.outbox_before = retention.keys_before = store_->now();
    EXPECT_TRUE(store_->retire_rows(retention).has_value());
  }

  SystemClock clock_;
  std::string server_, url_, name_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::unique_ptr<Store> store_;

 private:
  void outside(const std::string& text) {
    const std::unique_ptr<PGconn, Finish> connection(PQconnectdb(server_.c_str()));
    run(connection.get(), "SET client_min_messages = error");
    run(connection.get(), text);
  }
};

// The schema precedes the server's own in every search path and has operators that match better than the built-in ones.
constexpr const char* hostile = R"sql(
CREATE SCHEMA hostile;
CREATE TABLE hostile.calls (what text);
GRANT ALL ON SCHEMA hostile TO PUBLIC;
GRANT ALL ON hostile.calls TO PUBLIC;
CREATE FUNCTION hostile.now() RETURNS timestamptz LANGUAGE sql AS $$ INSERT INTO hostile.calls VALUES ('now'); SELECT pg_catalog.now() $$;
CREATE FUNCTION hostile.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
  $$ INSERT INTO hostile.calls VALUES ('clock'); SELECT pg_catalog.clock_timestamp() $$;
CREATE FUNCTION hostile.gen_random_uuid() RETURNS uuid LANGUAGE sql AS
  $$ INSERT INTO hostile.calls VALUES ('uuid'); SELECT pg_catalog.gen_random_uuid() $$;
CREATE FUNCTION hostile.pg_notify(text, text) RETURNS void LANGUAGE sql AS
  $$ INSERT INTO hostile.calls VALUES ('notify'); SELECT pg_catalog.pg_notify($1, $2) $$;
CREATE FUNCTION hostile.times(bigint, interval) RETURNS interval LANGUAGE sql AS
  $$ INSERT INTO hostile.calls VALUES ('times'); SELECT $2 OPERATOR(pg_catalog.*) $1::double precision $$;
CREATE OPERATOR hostile.* (LEFTARG = bigint, RIGHTARG = interval, FUNCTION = hostile.times);
CREATE FUNCTION hostile.same(text, text) RETURNS boolean LANGUAGE sql AS
  $$ INSERT INTO hostile.calls VALUES ('same'); SELECT $1 OPERATOR(pg_catalog.=) $2 $$;
CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.same);
)sql";

}  // namespace

TEST_F(Database, WhatOthersPutIntoTheirSchemasIsNeverCalled) {
  sql(hostile);
  sql("ALTER DATABASE " + name_ + " SET search_path = hostile, pg_catalog, public");
  connection_.reset();  // the program's sessions have that path as well
  ASSERT_NE(sql("SHOW search_path").find("hostile"), std::string::npos);
  open();
  work();
  EXPECT_EQ(sql("SELECT string_agg(DISTINCT what, ' ') FROM hostile.calls"), "");
  EXPECT_EQ(
      sql("SELECT count(*) FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace s ON s.oid = p.pronamespace WHERE "
          "s.nspname = 'cairn' AND NOT coalesce(p.proconfig, '{}') @> "
          "ARRAY['search_path=pg_catalog, pg_temp']"),
      "0")
      << "functions without a path of their own";
}

TEST_F(Database, APublicationOfAllTablesHoldsUpNothing) {
  open();
  sql("CREATE PUBLICATION everything FOR ALL TABLES");
  work();
  EXPECT_EQ(sql("SELECT string_agg(c.relname, ' ') FROM pg_class c WHERE c.relnamespace = 'cairn'::regnamespace AND "
                "c.relkind = 'r' AND NOT EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = c.oid AND "
                "(i.indisprimary OR i.indisreplident))"),
            "")
      << "tables without a replica identity";
}

namespace {

// Remembers the statements in their order.
class RecordingConductor final : public postgres::Conductor {
 public:
  RecordingConductor() { postgres::Connection::conduct(this); }
  ~RecordingConductor() override { postgres::Connection::conduct(nullptr); }
  void before(postgres::Connection&, postgres::Sql statement) override {
    const std::lock_guard lock(mutex_);
    statements_.push_back(statement);
  }
  bool came_before(postgres::Sql first, postgres::Sql second) {
    const std::lock_guard lock(mutex_);
    const auto end = std::find(statements_.begin(), statements_.end(), second);
    return end != statements_.end() && std::find(statements_.begin(), end, first) != end;
  }

 private:
  std::mutex mutex_;
  std::vector<postgres::Sql> statements_;
};

}  // namespace

// A store of some size takes longer than any of its statements may later, and another node waits for it all that time.
TEST_F(Database, AMigrationHasAllTheTimeItNeeds) {
  sql("CREATE TABLE public.seen (statement text, lock text)");
  sql("CREATE FUNCTION public.look() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN "
      "INSERT INTO public.seen VALUES (current_setting('statement_timeout'), current_setting('lock_timeout')); END $$");
  sql("CREATE EVENT TRIGGER look ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION public.look()");
  RecordingConductor conductor;
  open();
  EXPECT_EQ(sql("SELECT string_agg(DISTINCT statement || ' ' || lock, ', ') FROM public.seen"), "0 0");
  for (const postgres::Sql timeout : {postgres::Sql::migration_time, postgres::Sql::migration_patience}) {
    EXPECT_TRUE(conductor.came_before(timeout, postgres::Sql::migration_lock)) << "the wait has no timeout";
  }
}

// The statement waits for a locked row and is cancelled; a statement timeout ends the same way.
TEST_F(Database, AStatementThatWasCancelledIsNotSentAgain) {
  open();
  sql("INSERT INTO cairn.outbox_event (event_type) VALUES ('t')");
  const auto claimed = claim();
  ASSERT_EQ(claimed.size(), 1u);
  const std::int64_t first = claimed[0].sequence;
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.wf_outbox_queue FOR UPDATE");
  const std::unique_ptr<PGconn, Finish> other(PQconnectdb(url_.c_str()));
  const auto hold = [&] { return store_->hold_outbox("s", std::span(&first, 1), Duration::of_seconds(90)); };
  auto held = std::async(std::launch::async, hold);
  const std::string cancel =
      "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND "
      "wait_event_type "
      "= 'Lock'";
  int cancelled = 0;
  while (cancelled == 0) cancelled += std::stoi(run(other.get(), cancel));
  const auto answer = held.get();
  EXPECT_FALSE(answer.has_value());
  EXPECT_EQ(std::stoi(run(other.get(), cancel)), 0);
  sql("ROLLBACK");
  EXPECT_TRUE(hold().has_value());
}

// A retention whose statement is cancelled, as by the statement timeout, has failed. Each retry would hold its locks
// for as long again.
TEST_F(Database, ARetentionThatWasCancelledIsNotRetried) {
  open();
  sql("INSERT INTO cairn.wf_instances_base SELECT 1, 'i', 'd', '1', 'x', 'completed', NULL, NULL, NULL, NULL, now(), "
      "now(), "
      "now() - interval '1 h'");
  sql("INSERT INTO cairn.wf_runtime_states (n, state_version, schema_version, last_executed_on, snapshot) VALUES (1, "
      "1, 1, "
      "now(), '{}')");
  sql("CREATE FUNCTION cairn.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_catalog.pg_sleep(600); "
      "RETURN OLD; END'");
  sql("CREATE TRIGGER slow BEFORE DELETE ON cairn.wf_instances_base FOR EACH ROW EXECUTE FUNCTION cairn.slow()");
  RetentionRequest request;
  request.statuses = {Status::completed};
  request.ended_before = store_->now();
  request.max = 10;
  auto retired = std::async(std::launch::async, [&] { return store_->retire_instances(request); });
  const std::unique_ptr<PGconn, Finish> other(PQconnectdb(url_.c_str()));
  std::set<std::string> transactions;
  while (retired.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    const std::string cancelled = run(
        other.get(),
        "WITH slow AS MATERIALIZED (SELECT pid, xact_start FROM pg_stat_activity WHERE datname = current_database() "
        "AND wait_event = 'PgSleep') SELECT xact_start FROM slow WHERE pg_cancel_backend(pid)");
    if (!cancelled.empty()) transactions.insert(cancelled);
  }
  EXPECT_FALSE(retired.get().has_value());
  EXPECT_EQ(transactions.size(), 1u);
  sql("DROP TRIGGER slow ON cairn.wf_instances_base");
  const auto again = store_->retire_instances(request);
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_EQ(again->instances, 1u);
}

TEST_F(Database, DeliveriesGoWithTheEventsOfTheirInstance) {
  open();
  sql("INSERT INTO cairn.wf_instances_base SELECT 1, 'i', 'd', '1', 'x', 'completed', NULL, NULL, NULL, NULL, now(), "
      "now(), "
      "now() - interval '1 h'");
  sql("INSERT INTO cairn.wf_runtime_states (n, state_version, schema_version, last_executed_on, snapshot) VALUES (1, "
      "1, 1, "
      "now(), '{}')");
  sql("INSERT INTO cairn.outbox_event (event_type, instance, published_at) VALUES ('t', 'i', now()), ('t', '', now())");
  sql("INSERT INTO cairn.wf_deliveries (event, sink, attempt, at, delivered, error) SELECT id, 's', 1, now(), true, '' "
      "FROM cairn.outbox_event");
  RetentionRequest request;
  request.statuses = {Status::completed};
  request.ended_before = store_->now();
  request.max = 10;
  const auto retired = store_->retire_instances(request);
  ASSERT_TRUE(retired.has_value()) << retired.error().message;
  EXPECT_EQ(retired->instances, 1u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_deliveries"), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.outbox_event"), "1");
}

TEST_F(Database, ALargeTreeIsRemovedInParts) {
  open();
  sql("INSERT INTO cairn.wf_instances_base SELECT g, 'i' || g, 'd', '1', 'x', 'completed', NULL, NULL, CASE WHEN g > 1 "
      "THEN "
      "'i' || g / 3000 + 1 END, NULL, now(), now(), now() - interval '1 h' FROM generate_series(1, 5000) g");
  sql("INSERT INTO cairn.wf_runtime_states (n, state_version, schema_version, last_executed_on, snapshot) SELECT g, 1, "
      "1, "
      "now(), '{}' FROM generate_series(1, 5000) g");
  RetentionRequest request;
  request.statuses = {Status::completed};
  request.ended_before = store_->now();
  request.max = 10;
  std::size_t removed = 0;
  for (bool more = true; more;) {
    const auto retired = store_->retire_instances(request);
    ASSERT_TRUE(retired.has_value()) << retired.error().message;
    EXPECT_LE(retired->instances, 2000u);
    removed += retired->instances;
    more = retired->more;
    EXPECT_EQ(
        sql("SELECT count(*) FROM cairn.wf_instances_base c WHERE c.parent IS NOT NULL AND NOT EXISTS (SELECT 1 FROM "
            "cairn.wf_instances_base p WHERE p.id = c.parent)"),
        "0");
  }
  EXPECT_EQ(removed, 5000u);
}

// Many kept rows precede the old ones. A sweep scans them in parts and reaches the end.
TEST_F(Database, RowsThatAreKeptDoNotHideOldOnes) {
  open();
  sql("SET session_replication_role = replica");
  sql("INSERT INTO cairn.workflow_run (type, status, created_at, updated_at) SELECT 'default.a', 'succeeded', "
      "now() - interval '2 h', CASE WHEN g > 10000 AND g <= 10030 THEN now() - interval '2 h' ELSE now() END FROM "
      "generate_series(1, 12000) g");
  sql("INSERT INTO cairn.workflow_run (type, status, instance, created_at, updated_at) SELECT 'default.a', "
      "'succeeded', "
      "'i', now() - interval '2 h', now() - interval '2 h' FROM generate_series(1, 50) g");
  sql("INSERT INTO cairn.outbox_event (event_type, created_at, delivered_at, by_engine) SELECT 't', now() - interval "
      "'2 h', CASE WHEN g > 40 THEN now() - interval '2 h' END, true FROM generate_series(1, 50) g");
  sql("SET session_replication_role = DEFAULT");
  RowRetention request;
  request.runs_before = request.outbox_before = after(store_->now(), Duration::of_seconds(-3600));
  request.max = 10;
  std::size_t runs = 0, events = 0;
  for (int sweeps = 0; sweeps < 100 && (runs < 30 || events < 10); ++sweeps) {
    const auto retired = store_->retire_rows(request);
    ASSERT_TRUE(retired.has_value()) << retired.error().message;
    runs += retired->runs;
    events += retired->outbox;
  }
  EXPECT_EQ(runs, 30u);
  EXPECT_EQ(events, 10u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_run"), "12020");
}

// Sweeps that find nothing remember what can never be due, and read it once. The server counts what they read.
TEST_F(Database, SweepsReadWhatIsKeptOnce) {
  open();
  keep_rows(30'000, "g % 1000 = 0");
  expect_read_once(30'000);
}

TEST_F(Database, SweepsReadManyRunsThatStayOnce) {
  open();
  keep_rows(30'000, "g % 5 = 0");
  expect_read_once(30'000);
}

// They are not remembered one by one, so they go a while later.
TEST_F(Database, ManyRunsThatStayAreRemovedWhenTheyAreDue) {
  ManualClock clock{SystemClock().now()};
  auto opened = open_store(url_ + "&clock=process", clock);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  keep_rows(5000, "true");
  RowRetention request;
  const auto removed = [&] {
    std::size_t runs = 0;
    request.runs_before = after(store_->now(), Duration::of_seconds(-7200));
    for (int i = 0; i < 60; ++i) {
      const auto retired = store_->retire_rows(request);
      EXPECT_TRUE(retired.has_value()) << retired.error().message;
      runs += retired ? retired->runs : 0;
    }
    return runs;
  };
  EXPECT_EQ(removed(), 0u);
  sql("SET session_replication_role = replica");
  sql("UPDATE cairn.workflow_run SET updated_at = now() - interval '3 h'");
  sql("SET session_replication_role = DEFAULT");
  clock.advance(Duration::of_seconds(1801));
  EXPECT_EQ(removed(), 5000u);
}

// A run that was passed while it was kept is removed when its time has come; so is one whose clock was ahead.
TEST_F(Database, PassedRunsAreRemovedWhenTheyAreDue) {
  open();
  sql("SET session_replication_role = replica");
  sql("INSERT INTO cairn.workflow_run (type, status, created_at, updated_at) SELECT 'default.a', CASE g WHEN 1 THEN "
      "'pending' ELSE 'succeeded' END, CASE g WHEN 2 THEN now() + interval '1 h' ELSE now() - interval '3 h' END, CASE "
      "g WHEN 4 THEN now() - interval '3 h' ELSE now() END FROM generate_series(1, 4) g");
  sql("SET session_replication_role = DEFAULT");
  RowRetention request;
  request.runs_before = after(store_->now(), Duration::of_seconds(-7200));
  const auto removed = [&] {
    std::size_t runs = 0;
    for (int i = 0; i < 4; ++i) {
      const auto retired = store_->retire_rows(request);
      EXPECT_TRUE(retired.has_value()) << retired.error().message;
      runs += retired ? retired->runs : 0;
    }
    return runs;
  };
  EXPECT_EQ(removed(), 1u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_run"), "3");
  sql("SET session_replication_role = replica");
  sql("UPDATE cairn.workflow_run SET status = 'succeeded', updated_at = now() - interval '3 h'");
  sql("SET session_replication_role = DEFAULT");
  EXPECT_EQ(removed(), 3u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_run"), "0");
}

TEST_F(Database, ARetentionThatFailsDoesNotHoldUpOthers) {
  open();
  sql("SET session_replication_role = replica");
  sql("INSERT INTO cairn.workflow_run (type, status, created_at, updated_at) VALUES ('default.a', 'succeeded', now() - "
      "interval '3 h', now() - interval '3 h')");
  sql("INSERT INTO cairn.outbox_event (event_type, delivered_at, by_engine) VALUES ('t', now() - interval '3 h', "
      "true)");
  sql("INSERT INTO cairn.wf_idempotency_keys VALUES ('s', 'k', '', '', now() - interval '3 h')");
  sql("SET session_replication_role = DEFAULT");
  sql("CREATE FUNCTION cairn.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not now''; END'");
  sql("CREATE TRIGGER refuse BEFORE DELETE ON cairn.workflow_run EXECUTE FUNCTION cairn.refuse()");
  RowRetention request;
  request.runs_before = request.outbox_before = request.keys_before = after(store_->now(), Duration::of_seconds(-7200));
  const auto retired = store_->retire_rows(request);
  ASSERT_TRUE(retired.has_value()) << retired.error().message;
  EXPECT_EQ(retired->runs, 0u);
  EXPECT_EQ(retired->outbox, 1u);
  EXPECT_EQ(retired->keys, 1u);
  const auto again = store_->retire_rows(request);
  ASSERT_FALSE(again.has_value()) << "an error is told once nothing else is left";
  EXPECT_NE(again.error().message.find("not now"), std::string::npos) << again.error().message;
}

TEST_F(Database, TablesThatAreGoneAreNotTakenForANewStore) {
  open();
  submit(1);
  EXPECT_TRUE(store_->check_writable().has_value());
  store_->watch([](const Wakeup&) {});
  while (
      sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND database = (SELECT oid FROM "
          "pg_database WHERE datname = current_database())") == "0") {
  }
  // The node's own statements may lock the tables in another order.
  sql("DO $$ BEGIN LOOP BEGIN DROP SCHEMA cairn CASCADE; EXIT; EXCEPTION WHEN deadlock_detected THEN NULL; END; END "
      "LOOP; END $$");
  expect_lost(store_->check_writable(), "are gone");
  RunRow run;
  run.id = {new_uuid(store_->now())};
  run.type = "default.a";
  expect_lost(store_->submit_run(run), "are gone");
  Unit unit;
  unit.advances.push_back(sample::begin("i1"));
  expect_lost(store_->commit({&unit, 1}), "are gone");
  const auto second = open_store(url_, clock_);
  ASSERT_FALSE(second.has_value()) << "this node still runs on the tables that are gone";
  EXPECT_EQ(second.error().code, ErrorCode::conflict) << second.error().message;
  EXPECT_EQ(sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'cairn'"), "0");
  store_.reset();
  open();
  EXPECT_TRUE(store_->check_writable().has_value());
}

TEST_F(Database, TablesThatWereMadeAgainAreAnotherStore) {
  open();
  submit(1);
  sql("DROP SCHEMA cairn CASCADE");
  auto old = std::move(store_);
  open();
  submit(1);
  store_.swap(old);
  expect_lost(store_->check_writable(), "are another store");
  RunRow run;
  run.id = {new_uuid(store_->now())};
  run.type = "default.a";
  expect_lost(store_->submit_run(run), "are another store");
  EXPECT_TRUE(old->check_writable().has_value());
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_run"), "1");
}

TEST_F(Database, PagesWithoutChecksumsAreReported) {
  open();
  const auto advice = store_->setting_advice();
  ASSERT_TRUE(advice.has_value()) << advice.error().message;
  EXPECT_EQ(advice->size(), sql("SHOW data_checksums") == "on" ? 0u : 1u);
}

// A transaction that has inserted an event may commit long after others with a higher sequence.
TEST_F(Database, TheOutboxIsCompleteUpToTheOldestOpenInsert) {
  ManualClock clock{SystemClock().now()};
  auto opened = open_store(url_ + "&clock=process", clock);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  const std::unique_ptr<PGconn, Finish> late(PQconnectdb(url_.c_str())), unrelated(PQconnectdb(url_.c_str()));
  const std::string insert = "INSERT INTO cairn.outbox_event (event_type) VALUES ('t')";
  const auto complete = [&] {
    const auto settled = store_->settled_outbox();
    EXPECT_TRUE(settled.has_value()) << (settled ? "" : settled.error().message);
    return settled ? settled->up_to : -1;
  };
  EXPECT_EQ(complete(), 0);
  sql(insert);
  EXPECT_EQ(complete(), 1);
  run(unrelated.get(), "BEGIN; CREATE TABLE mine (n integer); INSERT INTO mine VALUES (1); SELECT txid_current()");
  run(late.get(), "BEGIN; " + insert);
  sql(insert);
  EXPECT_EQ(complete(), 1) << "2 is not committed";
  run(late.get(), "COMMIT");
  EXPECT_EQ(complete(), 3);
  run(late.get(), "BEGIN; " + insert);
  sql(insert);
  EXPECT_EQ(complete(), 3);
  run(late.get(), "ROLLBACK");
  EXPECT_EQ(complete(), 5);
  // The wait for an open transaction has an end.
  run(late.get(), "BEGIN; " + insert);
  sql(insert);
  EXPECT_EQ(complete(), 5);
  clock.advance(Duration::of_seconds(599));
  EXPECT_EQ(complete(), 5);
  clock.advance(Duration::of_seconds(2));
  EXPECT_EQ(complete(), 7);
  sql(insert);
  EXPECT_EQ(complete(), 8) << "and not for each of those that come after it";
}

// The time for which a stopping node waits for the server has a lower bound.
TEST_F(Database, AStopWithoutDrainTimeStillWrites) {
  open();
  submit(1);
  store_->stop_waiting(std::chrono::milliseconds(0));
  for (int i = 0; i < 20; ++i) submit(1);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_run"), "21");
}

// Programs read and write events too, and may keep one locked.
TEST_F(Database, ALockedEventHoldsUpOnlyItsSubject) {
  open();
  sql("INSERT INTO cairn.outbox_event (event_id, event_type, aggregate_id) VALUES ('a1', 't', 'a'), ('b1', 't', 'b'), "
      "('a2', 't', 'a')");
  const auto ids = [](const std::vector<OutboxRow>& rows) {
    std::string list;
    for (const OutboxRow& row : rows) list += row.event.id.value + " ";
    return list;
  };
  const std::unique_ptr<PGconn, Finish> program(PQconnectdb(url_.c_str()));
  const auto lock = [&](const std::string& id) {
    run(program.get(), "BEGIN; SELECT 1 FROM cairn.outbox_event WHERE event_id = '" + id + "' FOR UPDATE");
  };
  const auto begun = std::chrono::steady_clock::now();
  lock("a1");
  const auto free = claim();
  EXPECT_EQ(ids(free), "b1 ") << "a2 comes after a1";
  run(program.get(), "ROLLBACK");
  auto claimed = claim();
  EXPECT_EQ(ids(claimed), "a1 a2 ");
  claimed.push_back(free.at(0));
  std::vector<SinkResult> results;
  for (const OutboxRow& row : claimed) {
    results.push_back({row.sequence, SinkResult::Kind::taken, 1, store_->now()});
  }
  lock("a1");
  const auto recorded = store_->record_sink_results("s", results);
  ASSERT_TRUE(recorded.has_value()) << recorded.error().message;
  EXPECT_EQ(*recorded, 2u);
  run(program.get(), "ROLLBACK");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15)) << "other locks are waited for 20 s";
  EXPECT_EQ(sql("SELECT string_agg(event_id, ' ') FROM cairn.outbox_event WHERE delivered_at IS NULL"), "a1");
  EXPECT_EQ(ids(claim()), "") << "not at once";
  EXPECT_EQ(sql("SELECT due > now() + interval '20 s' AND due < now() + interval '40 s' FROM cairn.wf_outbox_queue"),
            "t");
  sql("UPDATE cairn.wf_outbox_queue SET due = now() - interval '1 s'");
  EXPECT_EQ(ids(claim()), "a1 ");
  const auto again = store_->record_sink_results("s", std::span(results).first(1));
  EXPECT_EQ(*again, 1u);
}

namespace {

class LockedInstance : public Database {
 protected:
  void begin() {
    open();
    for (const char* const id : {"locked", "free"}) {
      unit(sample::begin(id));
      ASSERT_EQ(commit().at(0).kind, CommitOutcome::Kind::done);
    }
  }
  void lock_as(const std::string& application) {
    holder_.reset(PQconnectdb((url_ + "&application_name=" + application).c_str()));
    run(holder_.get(), "BEGIN; SELECT 1 FROM cairn.wf_instances_base WHERE id = 'locked' FOR UPDATE");
  }
  void unlock() { run(holder_.get(), "ROLLBACK"); }
  void unit(Advance advance) {
    units_.clear();
    units_.emplace_back().advances.push_back(std::move(advance));
  }
  // The next state of both instances, in one batch.
  void next_of_both() {
    units_.clear();
    for (const char* const id : {"locked", "free"}) {
      const auto before = store_->find_snapshot({id});
      ASSERT_TRUE(before.has_value() && before->has_value());
      units_.emplace_back().advances.push_back(sample::next(**before));
    }
  }
  std::vector<CommitOutcome> commit() {
    auto outcomes = store_->commit(units_);
    EXPECT_TRUE(outcomes.has_value()) << (outcomes ? "" : outcomes.error().message);
    return outcomes ? std::move(*outcomes) : std::vector<CommitOutcome>(units_.size());
  }

  std::vector<Unit> units_;
  std::unique_ptr<PGconn, Finish> holder_;
};

}  // namespace

// Another node needs more than the time for which a batch waits for a lock, for example because its disk is slow.
TEST_F(LockedInstance, ALockOfAnotherNodeIsWaitedFor) {
  begin();
  next_of_both();
  lock_as("cairn");
  CountingConductor counted;
  auto outcomes = std::async(std::launch::async, [&] { return commit(); });
  // One attempt for both, one for the free one, and one for the other.
  const auto attempts = [&] { return counted.count(postgres::Sql::short_lock_timeout); };
  while (attempts() < 3 && outcomes.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    std::this_thread::yield();
  }
  EXPECT_EQ(
      sql("SELECT string_agg(i.id, ',') FROM cairn.wf_instances_base i JOIN cairn.wf_runtime_states s ON s.n = i.n "
          "WHERE s.state_version = 2"),
      "free")
      << "it does not wait for the other";
  unlock();
  for (const CommitOutcome& outcome : outcomes.get()) {
    EXPECT_EQ(outcome.kind, CommitOutcome::Kind::done) << outcome.error.message;
  }
}

TEST_F(LockedInstance, ALockThatAnotherNodeKeepsIsRefusedInTheEnd) {
  begin();
  next_of_both();
  lock_as("cairn");
  const auto outcomes = commit();
  EXPECT_EQ(outcomes.at(1).kind, CommitOutcome::Kind::done);
  ASSERT_EQ(outcomes.at(0).kind, CommitOutcome::Kind::failed);
  EXPECT_NE(outcomes.at(0).error.message.find("is locked by another transaction"), std::string::npos);
  unlock();
  next_of_both();
  EXPECT_EQ(commit().at(0).kind, CommitOutcome::Kind::done);
}

TEST_F(LockedInstance, ALockOfAProgramIsRefusedAtOnce) {
  begin();
  next_of_both();
  lock_as("report");
  CountingConductor counted;
  const auto outcomes = commit();
  EXPECT_EQ(outcomes.at(1).kind, CommitOutcome::Kind::done);
  ASSERT_EQ(outcomes.at(0).kind, CommitOutcome::Kind::failed);
  EXPECT_EQ(outcomes.at(0).error.code, ErrorCode::unavailable);
  EXPECT_EQ(counted.count(postgres::Sql::locked_instances), 1) << "it is not asked for again";
}

}  // namespace cairn
