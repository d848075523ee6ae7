// The statements of programs that know only the three tables: as they are written in many small workers, each guarantee
// of a lease holds. The statements are literal on purpose.
#include <atomic>
#include <map>

#include "postgres/run_queue_fixture.h"
#include "store/projection.h"

namespace cairn {

namespace {

// As written for one prefix of types. The holder and the length vary.
const std::string poll_from =
    " WHERE id = (SELECT id FROM workflow_run WHERE status IN ('pending', 'leased') AND deleted_at IS NULL AND run_at "
    "<= "
    "now() AND (lease_until IS NULL OR lease_until < now()) AND (type LIKE 'billing.%') ORDER BY priority DESC, run_at "
    "LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING ";

class SqlStatements : public RunQueue {
 protected:
  // Opens the store, and a session that uses the tables without their schema.
  void begin() {
    open();
    sql("SET search_path = " + schema_);
  }
  // Leases the next run as `worker`; the columns of the run, or nothing.
  std::string poll(const std::string& worker = "w", const std::string& columns = "attempt") {
    return sql("UPDATE workflow_run SET status = 'leased', leased_by = '" + worker +
               "', lease_until = now() + interval '30 seconds'" + poll_from + columns);
  }
  void succeed() {
    sql("UPDATE workflow_run SET status = 'succeeded', result = '{\"ok\": true}', lease_until = NULL, leased_by = NULL "
        "WHERE status = 'leased'");
  }
  void retry() {
    sql("UPDATE workflow_run SET status = 'pending', attempt = attempt + 1, run_at = now(), lease_until = NULL, "
        "leased_by = NULL, error = '{\"code\": \"e\"}', last_error = 'it broke' WHERE status = 'leased'");
  }
  void insert(int max_attempts = 3) {
    sql("INSERT INTO workflow_run (type, payload, max_attempts) VALUES ('billing.charge.v1', '{\"amount\": 12}', " +
        std::to_string(max_attempts) + ")");
  }
  void expire_leases() { sql("UPDATE workflow_run SET lease_until = now() - interval '1 s' WHERE status = 'leased'"); }
  std::string run() { return sql("SELECT status || ' ' || attempt FROM workflow_run"); }
  std::string trail() {
    return sql("SELECT string_agg(event_type || ' ' || attempt, ', ' ORDER BY id) FROM workflow_event");
  }
  // The SQLSTATE with which the server refuses the statement; empty if it does not.
  std::string refused(const std::string& text) {
    PGresult* result = PQexec(connection_.get(), postgres::for_schema(text, schema_).c_str());
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string code = state == nullptr ? "" : state;
    PQclear(result);
    return code;
  }
  // Not through `sql`, which replaces the schema name.
  void name_session(const std::string& worker) {
    PQclear(PQexec(connection_.get(), ("SET cairn.worker = '" + worker + "'").c_str()));
  }
  void expect_consistent() { EXPECT_EQ(store_->queue_faults(10)->size(), 0u); }
};

constexpr const char* lease_lost = "55000";  // object_not_in_prerequisite_state
constexpr const char* check_violation = "23514";

}  // namespace

TEST_F(SqlStatements, AJobIsInsertedLeasedExtendedAndFinished) {
  begin();
  sql("INSERT INTO workflow_run (id, type, status, payload, run_at) VALUES (gen_random_uuid(), 'billing.charge.v1', "
      "'pending', '{\"amount\": 12}', now())");
  sql("INSERT INTO workflow_run (id, type, status, payload, run_at) VALUES (gen_random_uuid(), 'media.thumbnail.v1', "
      "'pending', '{}', now())");
  EXPECT_EQ(poll("w", "type || ' ' || status || ' ' || attempt || ' of ' || max_attempts"),
            "billing.charge.v1 leased 0 of 3");
  EXPECT_EQ(poll(), "") << "it is leased, and the other has another prefix";
  EXPECT_EQ(sql("UPDATE workflow_run SET lease_until = now() + interval '60 seconds' WHERE leased_by = 'w' RETURNING "
                "updated_at = now()"),
            "t")
      << "a heartbeat is an update";
  succeed();
  EXPECT_EQ(sql("SELECT status || ' ' || attempt FROM workflow_run WHERE type LIKE 'billing.%'"), "succeeded 1");
  EXPECT_EQ(trail(), "created 0, created 0, leased 1, succeeded 1");
  expect_consistent();
}

TEST_F(SqlStatements, ARetryThatAddsAnAttemptIsCountedOnce) {
  begin();
  insert();
  for (int executions = 0; executions < 3; ++executions) {
    ASSERT_EQ(poll(), std::to_string(executions)) << "the attempts before this one";
    retry();
  }
  EXPECT_EQ(run(), "failed 3") << "no attempts are left";
  EXPECT_EQ(poll(), "");
  EXPECT_EQ(trail(), "created 0, leased 1, retried 1, leased 2, retried 2, leased 3, failed 3");
  EXPECT_EQ(sql("SELECT last_error FROM workflow_run"), "it broke");
  EXPECT_EQ(sql("SELECT count(*) FROM wf_dlq_q WHERE kind = 'run' AND reason = 'it broke'"), "1");
  EXPECT_EQ(listed(RunStatus::failed), 1u);
  expect_consistent();
}

// It compares the attempt that its lease returned, and writes the next one as a number.
TEST_F(SqlStatements, AProgramThatCountsByItselfHasAllAttempts) {
  begin();
  insert();
  int executions = 0;
  for (std::string attempt = poll(); !attempt.empty(); attempt = poll()) {
    ASSERT_LT(++executions, 5);
    const int next = std::stoi(attempt) + 1;
    sql("UPDATE workflow_run SET status = '" + std::string(next >= 3 ? "failed" : "pending") +
        "', attempt = " + std::to_string(next) + ", run_at = now(), last_error = 'no', updated_at = now()");
  }
  EXPECT_EQ(executions, 3);
  EXPECT_EQ(run(), "failed 3");
  EXPECT_EQ(sql("SELECT leased_by IS NULL AND lease_until IS NULL FROM workflow_run"), "t");
  expect_consistent();
}

TEST_F(SqlStatements, AttemptsOfNodesAndProgramsAreOneCount) {
  begin();
  insert(4);
  ASSERT_EQ(poll(), "0");
  retry();
  const auto leased = store_->lease_runs({"n", {"billing."}, {}, 10, Duration::of_seconds(60)});
  ASSERT_EQ(leased->size(), 1u);
  EXPECT_EQ((*leased)[0].attempt, 2);
  RunChange failed;
  failed.kind = RunChange::Kind::retry;
  failed.run = (*leased)[0].id;
  failed.fence = (*leased)[0].fence;
  ASSERT_EQ(store_->change_run(failed)->kind, RunChanged::Kind::done);
  EXPECT_EQ(poll(), "2");
  EXPECT_EQ((*store_->find_run(failed.run))->attempt, 3) << "a node says which attempt it is";
  expire_leases();
  const auto again = store_->lease_runs({"n", {"billing."}, {}, 10, Duration::of_seconds(60)});
  ASSERT_EQ(again->size(), 1u) << "the lease of the program has ended";
  EXPECT_EQ((*again)[0].attempt, 4);
  EXPECT_EQ(trail(), "created 0, leased 1, retried 1, leased 2, retried 2, leased 3, leased 4");
  expect_consistent();
}

TEST_F(SqlStatements, APendingRunWithoutAnAttemptFailsAtOnce) {
  begin();
  insert(0);
  EXPECT_EQ(run(), "failed 0");
  EXPECT_EQ(trail(), "created 0, failed 0");
  EXPECT_EQ(sql("SELECT reason FROM wf_dlq_q"), "the run has no attempt left: 0 of 0");
  sql("DELETE FROM workflow_run");
  insert(2);
  poll();
  retry();
  EXPECT_EQ(run(), "pending 1");
  sql("UPDATE workflow_run SET max_attempts = 1");
  EXPECT_EQ(run(), "failed 1");
  EXPECT_EQ(sql("SELECT error ->> 'code' FROM workflow_run"), "e") << "the error of its last attempt";
  EXPECT_EQ(sql("SELECT count(*) FROM wf_run_q"), "0");
  expect_consistent();
}

TEST_F(SqlStatements, ARunIsGivenBackWithoutAnAttempt) {
  begin();
  insert();
  poll();
  sql("UPDATE workflow_run SET status = 'pending', lease_until = NULL, leased_by = NULL");
  EXPECT_EQ(run(), "pending 0");
  EXPECT_EQ(trail(), "created 0, leased 1, released 0");
  EXPECT_EQ(poll(), "0");
  expect_consistent();
}

TEST_F(SqlStatements, TheSameWorkerThatClaimsAnExpiredLeaseHasANewAttemptAndFence) {
  begin();
  insert(2);
  EXPECT_EQ(poll("w", "attempt || ' ' || fence"), "0 1");
  expire_leases();
  EXPECT_EQ(poll("w", "attempt || ' ' || fence"), "1 2");
  expire_leases();
  EXPECT_EQ(poll("w", "attempt || ' ' || fence"), "") << "the attempts are used up: it is not leased";
  EXPECT_EQ(run(), "failed 2");
  EXPECT_EQ(sql("SELECT error ->> 'code' FROM workflow_run"), "lease_expired");
  EXPECT_EQ(sql("SELECT count(*) FROM wf_dlq_q"), "1");
  expect_consistent();
}

// The node ends it if it is the first to notice.
TEST_F(SqlStatements, AnExpiredLeaseOfAProgramUsesItsAttempt) {
  begin();
  insert(1);
  EXPECT_EQ(poll(), "0");
  EXPECT_EQ(store_->exhausted_runs(10)->size(), 0u);
  expire_leases();
  const auto exhausted = store_->exhausted_runs(10);
  ASSERT_EQ(exhausted->size(), 1u);
  EXPECT_EQ((*exhausted)[0].attempt, 1);
  expect_consistent();
}

TEST_F(SqlStatements, ALateReportIsRefusedIfTheHolderIsKnown) {
  begin();
  insert(9);
  const std::string late = "UPDATE workflow_run SET status = 'succeeded', result = '\"late\"' WHERE status = 'leased'";
  poll("slow");
  expire_leases();
  const auto leased = store_->lease_runs({"n", {"billing."}, {}, 10, Duration::of_seconds(60)});
  ASSERT_EQ(leased->size(), 1u);
  EXPECT_EQ(refused(late), lease_lost) << "a node has it now";
  EXPECT_EQ(refused("UPDATE workflow_run SET status = 'pending', attempt = attempt + 1"), lease_lost);
  const RunEnd end{(*leased)[0].id, (*leased)[0].fence, RunStatus::succeeded, Json(1), Json(), "n"};
  EXPECT_EQ(store_->end_runs(std::span(&end, 1))->at(0).kind, CommitOutcome::Kind::done);
  EXPECT_EQ(refused("UPDATE workflow_run SET status = 'succeeded', result = '\"late\"'"), check_violation);
  EXPECT_EQ(sql("SELECT result FROM workflow_run"), "1");

  sql("DELETE FROM workflow_run");
  insert(9);
  name_session("b");
  poll("b");
  name_session("");
  EXPECT_EQ(refused(late), lease_lost) << "a session without a name is another worker";
  name_session("a");
  EXPECT_EQ(refused(late), lease_lost);
  EXPECT_EQ(refused("UPDATE workflow_run SET status = 'failed'"), lease_lost);
  name_session("b");
  succeed();
  EXPECT_EQ(run(), "succeeded 1");
  EXPECT_EQ(refused("UPDATE workflow_run SET status = 'succeeded', result = '{\"ok\": true}'"), "")
      << "the same report again changes nothing";
  name_session("");
  expect_consistent();
}

TEST_F(SqlStatements, ACancelledRunStaysCancelled) {
  begin();
  insert();
  poll("w");
  sql("UPDATE workflow_run SET status = 'cancelled' WHERE status IN ('pending', 'leased')");
  EXPECT_EQ(refused("UPDATE workflow_run SET status = 'succeeded'"), check_violation);
  EXPECT_EQ(sql("UPDATE workflow_run SET lease_until = NULL, leased_by = NULL WHERE leased_by = 'w' RETURNING status"),
            "cancelled");
  EXPECT_EQ(run(), "cancelled 1");
  expect_consistent();
}

TEST_F(SqlStatements, ARunIsDeletedInAnyStatus) {
  begin();
  for (const char* status : {"pending", "leased", "succeeded", "failed", "cancelled"}) {
    insert(1);
    if (status != std::string("pending")) poll();
    if (status != std::string("pending") && status != std::string("leased")) {
      sql("UPDATE workflow_run SET status = '" + std::string(status) + "' WHERE status = 'leased'");
    }
    EXPECT_EQ(sql("UPDATE workflow_run SET deleted_at = now(), delete_reason = 'tidy' WHERE deleted_at IS NULL "
                  "RETURNING status"),
              status);
    EXPECT_EQ(poll(), "");
    EXPECT_EQ(store_->lease_runs({"n", {"billing."}, {}, 10, Duration::of_seconds(60)})->size(), 0u);
  }
  EXPECT_EQ(sql("SELECT count(*) FROM workflow_run WHERE deleted_at IS NOT NULL"), "5");
  expire_leases();
  EXPECT_EQ(store_->exhausted_runs(10)->size(), 0u);
  EXPECT_EQ(sql("SELECT count(*) FROM wf_run_q"), "0");
  expect_consistent();
  sql("INSERT INTO workflow_run (type, instance) VALUES ('billing.b', 'i')");
  EXPECT_EQ(refused("UPDATE workflow_run SET deleted_at = now() WHERE instance = 'i'"), check_violation)
      << "the instance would wait for ever";
}

// The statement that leases reads every finished run, unless there is an index for it.
TEST_F(SqlStatements, TheDoctorNoticesProgramsThatReadAllRuns) {
  begin();
  sql("SET session_replication_role = replica; INSERT INTO workflow_run (type, status) SELECT 'billing.a', 'succeeded' "
      "FROM generate_series(1, 25000); SET session_replication_role = DEFAULT; ANALYZE workflow_run");
  const auto advised = [&] {
    const auto advice = store_->setting_advice();
    if (!advice) return false;
    for (const SettingAdvice& one : *advice) {
      if (one.advice.find("workflow_run_poll") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_FALSE(advised());
  for (int i = 0; i < 100; ++i) poll();
  sql("SELECT pg_stat_force_next_flush()");
  EXPECT_TRUE(advised());
  sql("CREATE INDEX workflow_run_poll ON workflow_run (priority DESC, run_at, type) WHERE status IN ('pending', "
      "'leased') "
      "AND deleted_at IS NULL");
  EXPECT_FALSE(advised());
}

TEST_F(SqlStatements, AKeyIsInsertedOnce) {
  begin();
  const std::string values =
      "INSERT INTO workflow_run (type, payload, idempotency_key) VALUES ('billing.a', '{}', 'k') ";
  EXPECT_EQ(sql(values + "RETURNING status"), "pending");
  EXPECT_EQ(sql(values + "ON CONFLICT (idempotency_key) DO NOTHING RETURNING status"), "");
  EXPECT_EQ(sql(values + "ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL AND deleted_at IS NULL "
                         "DO UPDATE SET updated_at = now() RETURNING status"),
            "pending");
  EXPECT_EQ(sql("SELECT count(*) FROM workflow_run"), "1");
  expect_consistent();
}

TEST_F(SqlStatements, EventsHaveTheirPublicNames) {
  begin();
  insert();
  const std::string id = sql("SELECT id FROM workflow_run");
  sql("INSERT INTO workflow_event (workflow_id, event_type, data) VALUES ('" + id +
      "', 'started', '{\"worker_id\": 7}')");
  EXPECT_EQ(
      sql("SELECT string_agg(event_type || coalesce(data ->> 'worker_id', ''), ' ' ORDER BY id) FROM workflow_event "
          "WHERE workflow_id = '" +
          id + "' AND created_at <= now()"),
      "created started7");
  const auto events = store_->run_events({id});
  ASSERT_EQ(events->size(), 2u);
  EXPECT_EQ(events->at(1).kind, "started");
  sql("INSERT INTO outbox_event (aggregate_id, event_type, payload) VALUES ('" + id +
      "'::uuid, 'invoice.paid.v1', "
      "'{\"no\": 1}'), ('" +
      id + "', 'invoice.sent.v1', '{}')");
  const auto page = store_->list_outbox({}, {10, ""});
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_EQ(page->items[0].event.type, "invoice.paid.v1");
  EXPECT_EQ(page->items[0].event.subject, id);
  EXPECT_EQ(page->items[0].event.data, Json::object({{"no", 1}}));
  EXPECT_EQ(sql("SELECT string_agg(event_type, ' ' ORDER BY id) FROM outbox_event WHERE published_at IS NULL"),
            "invoice.paid.v1 invoice.sent.v1");
}

namespace {

// A dispatcher of a program, as it is usually written.
class SqlDispatcher {
 public:
  SqlDispatcher(const std::string& server, const std::string& schema) : connection_(PQconnectdb(server.c_str())) {
    run("SET search_path = " + schema);
  }
  ~SqlDispatcher() { PQfinish(connection_); }

  // Publishes one batch; the ids of its events.
  std::vector<std::string> publish(bool fails) {
    run("BEGIN");
    std::vector<std::string> ids =
        run("SELECT id FROM outbox_event WHERE published_at IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED");
    if (fails) {
      run("ROLLBACK");
      return {};
    }
    for (const std::string& id : ids) run("UPDATE outbox_event SET published_at = now() WHERE id = " + id);
    run("COMMIT");
    return ids;
  }

 private:
  std::vector<std::string> run(const std::string& text) {
    PGresult* result = PQexec(connection_, text.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << text << PQerrorMessage(connection_);
    std::vector<std::string> values;
    for (int row = 0; row < PQntuples(result); ++row) values.emplace_back(PQgetvalue(result, row, 0));
    PQclear(result);
    return values;
  }
  PGconn* connection_;
};

}  // namespace

// Ours has a sink for some types; the program publishes what it finds. Each event goes to one of the two.
TEST_F(SqlStatements, ADispatcherWithSqlWorksBesideOurs) {
  begin();
  constexpr int count = 3000;
  const SinkFilter sink{"s", {"invoice."}};
  std::atomic<bool> all_in = false;
  std::map<std::string, int> ours, theirs;
  {
    std::jthread writer([&] {
      for (int i = 0; i < count; i += 100) {
        sql("INSERT INTO outbox_event (aggregate_id, event_type, payload) SELECT 'a' || g % 7, CASE WHEN g % 3 > 0 "
            "THEN "
            "'invoice.x' ELSE 'order.x' END, '{}' FROM generate_series(1, 100) g");
      }
      all_in = true;
    });
    std::jthread node([&] {
      for (;;) {
        const bool last = all_in;
        const auto claimed = store_->claim_outbox({&sink, 1}, {sink.name, 50, Duration::of_seconds(60)});
        ASSERT_TRUE(claimed.has_value()) << claimed.error().message;
        std::vector<SinkResult> results;
        for (const OutboxRow& row : *claimed) {
          EXPECT_EQ(row.event.type, "invoice.x");
          ++ours[std::to_string(row.sequence)];
          results.push_back({row.sequence, SinkResult::Kind::taken, 1, store_->now(), ""});
        }
        ASSERT_TRUE(store_->record_sink_results(sink.name, results).has_value());
        if (last && claimed->empty()) return;
      }
    });
    std::jthread program([&] {
      SqlDispatcher dispatcher(server_, schema_);
      for (int round = 0;; ++round) {
        const bool last = all_in;
        const auto ids = dispatcher.publish(round % 3 == 0);
        for (const std::string& id : ids) ++theirs[id];
        if (last && ids.empty() && round % 3 != 0) return;
      }
    });
  }
  SqlDispatcher dispatcher(server_, schema_);
  for (auto rest = dispatcher.publish(false); !rest.empty(); rest = dispatcher.publish(false)) {
    for (const std::string& id : rest) ++theirs[id];
  }
  EXPECT_EQ(ours.size() + theirs.size(), static_cast<std::size_t>(count));
  for (const auto& [id, times] : ours) EXPECT_EQ(times + (theirs.contains(id) ? 1 : 0), 1) << id;
  for (const auto& [id, times] : theirs) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(sql("SELECT count(*) FROM outbox_event WHERE published_at IS NULL OR delivered_at IS NULL"), "0");
  EXPECT_EQ(sql("SELECT count(*) FROM wf_outbox_queue"), "0");
  std::printf("ours %zu, the program %zu\n", ours.size(), theirs.size());
}

// A program has the new events locked, and then gives up. Ours must look again, although no notification comes.
TEST_F(SqlStatements, EventsThatAProgramHadLockedAreLookedForAgain) {
  begin();
  const SinkFilter sink{"s", {}};
  const auto claim = [&] {
    return store_->claim_outbox({&sink, 1}, {sink.name, 50, Duration::of_seconds(60)})->size();
  };
  sql("INSERT INTO outbox_event (event_type) VALUES ('t')");
  std::mutex mutex;
  std::optional<Timestamp> due;
  store_->watch([&](const Wakeup& wakeup) {
    const std::lock_guard lock(mutex);
    if (wakeup.due && (!due || *wakeup.due > *due)) due = wakeup.due;
  });
  sql("BEGIN; SELECT id FROM outbox_event WHERE published_at IS NULL ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED");
  const Timestamp before = store_->now();
  EXPECT_EQ(claim(), 0u);
  sql("ROLLBACK");
  store_->watch(nullptr);
  ASSERT_TRUE(due.has_value());
  EXPECT_GT(*due, before);
  EXPECT_LE(*due, after(store_->now(), Duration::of_seconds(2)));
  EXPECT_EQ(claim(), 1u);
}

TEST_F(SqlStatements, RemovingOldEventsLeavesThoseThatASinkHasToGet) {
  begin();
  const SinkFilter sink{"s", {"a"}};
  sql("INSERT INTO outbox_event (event_type) VALUES ('a'), ('b')");
  ASSERT_EQ(store_->claim_outbox({&sink, 1}, {sink.name, 50, Duration::of_seconds(60)})->size(), 1u);
  sql("UPDATE outbox_event SET published_at = now() - interval '8 days'");
  sql("DELETE FROM outbox_event WHERE published_at < now() - interval '7 days'");
  EXPECT_EQ(sql("SELECT string_agg(event_type, ' ') FROM outbox_event"), "a");
}

}  // namespace cairn
