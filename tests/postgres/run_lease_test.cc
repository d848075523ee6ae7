// Leasing: every way of leasing returns each run once and in order. A locked, flooded or broken run does not delay the
// others.
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "postgres/run_queue_fixture.h"
#include "store/projection.h"

namespace cairn {

namespace {

class RunLeases : public RunQueue {
 protected:
  std::string entries() { return sql("SELECT count(*) FROM cairn.wf_run_q"); }
  std::vector<std::int64_t> lease_priorities(std::size_t count) {
    std::vector<std::int64_t> list;
    for (const RunRow& run : lease_many(count)) list.push_back(run.priority);
    return list;
  }
  RunChanged::Kind change(RunChange::Kind kind, const RunRow& run) {
    RunChange asked;
    asked.kind = kind;
    asked.run = run.id;
    asked.fence = run.fence;
    asked.reason = "no longer needed";
    const auto changed = store_->change_run(asked);
    EXPECT_TRUE(changed.has_value()) << (changed ? "" : changed.error().message);
    return changed ? changed->kind : RunChanged::Kind::not_found;
  }
  // Waits until a transaction waits for a lock of another.
  void wait_for_waiter() {
    const std::unique_ptr<PGconn, Finish> other(PQconnectdb(server_.c_str()));
    const std::string waiting =
        "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%" + schema_ + "%'";
    for (int tries = 0; tries < 100'000; ++tries) {
      PGresult* result = PQexec(other.get(), waiting.c_str());
      const bool found = PQntuples(result) > 0;
      PQclear(result);
      if (found) return;
    }
    ADD_FAILURE() << "nobody waits";
  }
  // A lease that is prevented finds nothing, and the store asks for another look soon.
  void expect_another_look(const std::function<std::size_t()>& lease, const std::function<void()>& prevent,
                           const std::function<void()>& allow) {
    std::mutex mutex;
    std::optional<Timestamp> due;
    // The channel connects in parallel and wakes every waiter now, so only a time in the future counts. The clock of
    // the server may be set by a little meanwhile.
    store_->watch([&](const Wakeup& wakeup) {
      const std::lock_guard lock(mutex);
      if (wakeup.due && *wakeup.due > after(store_->now(), Duration::of_ms(100))) due = wakeup.due;
    });
    prevent();
    EXPECT_EQ(lease(), 0u);
    store_->watch(nullptr);
    ASSERT_TRUE(due.has_value());
    EXPECT_LE(*due, after(store_->now(), Duration::of_seconds(2)));
    allow();
    EXPECT_EQ(lease(), 1u);
  }
  // While a program has the only run locked.
  void expect_another_look(const std::function<std::size_t()>& lease) {
    expect_another_look(
        lease,
        [this] {
          sql("BEGIN");
          sql("SELECT 1 FROM cairn.workflow_run FOR UPDATE");
        },
        [this] { sql("ROLLBACK"); });
  }
  static RunChange change_of(RunChange::Kind kind, const RunRow& run) {
    RunChange asked;
    asked.kind = kind;
    asked.run = run.id;
    asked.fence = run.fence;
    asked.length = Duration::of_seconds(600);
    asked.actor = "w";
    return asked;
  }
  void limit(int concurrency, const std::string& by = "") {
    RunTypeRow rule;
    rule.type = "default.a";
    rule.concurrency = concurrency;
    rule.limit_key = by;
    ASSERT_TRUE(store_->put_run_type(rule).has_value());
  }
  std::multiset<std::string> lease_keys(std::size_t count) {
    std::multiset<std::string> keys;
    for (const RunRow& run : lease_many(count)) keys.insert(run.limit_key);
    return keys;
  }
  // Many runs at once, as a program writes them, without its triggers.
  void flood(std::size_t count, const std::string& key, const std::string& priority = "0") {
    const std::string number = std::to_string(count);
    sql("SET session_replication_role = replica");
    sql("INSERT INTO cairn.workflow_run (type, limit_key, priority) SELECT 'default.a', '" + key + "', " + priority +
        " FROM generate_series(1, " + number + ")");
    sql("INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key) "
        "SELECT type, priority, run_at, n, id, false, false, limit_key FROM cairn.workflow_run ORDER BY n DESC LIMIT " +
        number);
    sql("SET session_replication_role = DEFAULT");
  }
  double entries_read() {
    sql("SELECT pg_stat_clear_snapshot()");
    return std::stod(sql("SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '" + schema_ + "'"));
  }
};

std::vector<std::int64_t> several(std::initializer_list<std::pair<std::size_t, std::int64_t>> parts) {
  std::vector<std::int64_t> list;
  for (const auto& [count, value] : parts) list.insert(list.end(), count, value);
  return list;
}

}  // namespace

TEST_F(RunLeases, HeartbeatsAndReleasesOfManyRunsAreOneTransaction) {
  open();
  submit(200);
  const auto runs = lease_many(200);
  ASSERT_EQ(runs.size(), 200u);
  std::vector<RunChange> changes;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    changes.push_back(change_of(i % 2 == 0 ? RunChange::Kind::heartbeat : RunChange::Kind::release, runs[i]));
  }
  CountingConductor counted;
  for (const auto& answer : store_->change_runs(changes)) {
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->kind, RunChanged::Kind::done);
  }
  EXPECT_EQ(counted.count(postgres::Sql::commit), 1);
  EXPECT_LE(counted.all(), 15) << "the number of statements does not depend on the number of runs";
  EXPECT_EQ(listed(RunStatus::leased), 100u);
  EXPECT_EQ(listed(RunStatus::pending), 100u);
}

TEST_F(RunLeases, ALockedRunCostsNoOtherRunItsLease) {
  open();
  submit(3);
  const auto runs = lease_many(3);
  ASSERT_EQ(runs.size(), 3u);
  std::vector<RunChange> changes;
  for (const RunRow& run : runs) changes.push_back(change_of(RunChange::Kind::heartbeat, run));
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.workflow_run WHERE id = '" + runs[1].id.value + "' FOR UPDATE");
  const auto answers = store_->change_runs(changes);
  sql("ROLLBACK");
  ASSERT_EQ(answers.size(), 3u);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    ASSERT_TRUE(answers[i].has_value()) << answers[i].error().message;
    EXPECT_EQ(answers[i]->kind, RunChanged::Kind::done);
    EXPECT_EQ(answers[i]->row, **store_->find_run(runs[i].id));
    EXPECT_GT(answers[i]->row.lease_until, runs[i].lease_until);
  }
  ASSERT_FALSE(answers[1].has_value());
  EXPECT_EQ(answers[1].error().code, ErrorCode::unavailable);
  EXPECT_EQ((*store_->find_run(runs[1].id))->lease_until, runs[1].lease_until);
  const auto again = store_->change_runs(std::span(changes).subspan(1, 1));
  ASSERT_TRUE(again[0].has_value()) << again[0].error().message;
  EXPECT_EQ(again[0]->kind, RunChanged::Kind::done);
}

TEST_F(RunLeases, AReleaseWaitsForTheTransactionThatHasTheRun) {
  open();
  submit(2);
  const auto runs = lease_many(2);
  ASSERT_EQ(runs.size(), 2u);
  const std::vector<RunChange> changes{change_of(RunChange::Kind::release, runs[0]),
                                       change_of(RunChange::Kind::release, runs[1])};
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.workflow_run WHERE id = '" + runs[0].id.value + "' FOR UPDATE");
  std::vector<Result<RunChanged>> answers;
  std::thread releasing([&] { answers = store_->change_runs(changes); });
  wait_for_waiter();
  sql("ROLLBACK");
  releasing.join();
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer.has_value()) << answer.error().message;
    EXPECT_EQ(answer->kind, RunChanged::Kind::done);
  }
  EXPECT_EQ(lease_many(2).size(), 2u);
}

TEST_F(RunLeases, AHeartbeatOutlastsAShortLock) {
  open();
  submit(2);
  const auto runs = lease_many(2);
  ASSERT_EQ(runs.size(), 2u);
  const std::vector<RunChange> changes{change_of(RunChange::Kind::heartbeat, runs[0]),
                                       change_of(RunChange::Kind::heartbeat, runs[1])};
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.workflow_run WHERE id = '" + runs[0].id.value + "' FOR UPDATE");
  CountingConductor counted;
  std::atomic<bool> answered = false;
  std::vector<Result<RunChanged>> answers;
  std::thread beating([&] {
    answers = store_->change_runs(changes);
    answered = true;
  });
  while (!answered && counted.count(postgres::Sql::lock_changed_runs) < 2) std::this_thread::yield();
  sql("ROLLBACK");
  beating.join();
  ASSERT_EQ(answers.size(), 2u);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i].has_value()) << answers[i].error().message;
    EXPECT_EQ(answers[i]->kind, RunChanged::Kind::done);
    EXPECT_GT(answers[i]->row.lease_until, runs[i].lease_until);
  }
}

// A lease that ends soon leaves its heartbeat less time.
TEST_F(RunLeases, AHeartbeatWaitsForAPartOfItsLeaseOnly) {
  open();
  submit(1);
  const auto runs = lease_many(1);
  ASSERT_EQ(runs.size(), 1u);
  RunChange change = change_of(RunChange::Kind::heartbeat, runs[0]);
  change.length = Duration::of_ms(60);
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.workflow_run FOR UPDATE");
  CountingConductor counted;
  const auto answers = store_->change_runs({&change, 1});
  sql("ROLLBACK");
  ASSERT_FALSE(answers[0].has_value());
  EXPECT_EQ(answers[0].error().code, ErrorCode::unavailable);
  EXPECT_EQ(counted.count(postgres::Sql::lock_changed_runs), 2) << "10 ms are one more attempt";
}

TEST_F(RunLeases, GoesByPriorityThenByTime) {
  open();
  submit(300);
  submit(3, 5);
  submit(200, 5);
  submit(2, -1);
  submit(150, -2);
  EXPECT_EQ(lease_priorities(10), several({{10, 5}}));
  EXPECT_EQ(lease_priorities(400), several({{193, 5}, {207, 0}}));
  EXPECT_EQ(lease_priorities(400), several({{93, 0}, {2, -1}, {150, -2}}));
  EXPECT_EQ(entries(), "0");
}

TEST_F(RunLeases, PrioritiesAreAsLargeAsTheyAreGiven) {
  open();
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t priority : {std::int64_t{0}, std::int64_t{3'000'000'000}, least, most, std::int64_t{-5}}) {
    submit(1, priority);
  }
  EXPECT_EQ(lease_priorities(2), (std::vector<std::int64_t>{most, 3'000'000'000}));
  EXPECT_EQ(lease_priorities(100), (std::vector<std::int64_t>{0, -5, least}));
}

TEST_F(RunLeases, WhoIsCancelledOrTakenByAProgramIsNotLeased) {
  open();
  const auto runs = submit(300);
  const auto where = [&](std::size_t i) { return " WHERE id = '" + runs[i].id.value + "'"; };
  EXPECT_EQ(change(RunChange::Kind::cancel, runs[0]), RunChanged::Kind::done);
  EXPECT_EQ(change(RunChange::Kind::remove, runs[299]), RunChanged::Kind::done);
  sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'x', lease_until = now() + interval '1 h'" +
      where(7));
  sql("UPDATE cairn.workflow_run SET priority = 3" + where(8));
  sql("UPDATE cairn.workflow_run SET run_at = now() + interval '1 h'" + where(9));
  sql("DELETE FROM cairn.workflow_run" + where(10));
  EXPECT_EQ(lease_priorities(1000), several({{1, 3}, {294, 0}}));
  EXPECT_EQ(entries(), "1") << "one for later";
}

// A program keeps one of many runs locked: neither large nor small requests wait for it, and neither do lists.
TEST_F(RunLeases, WhatSomebodyKeepsLockedHoldsUpNobodyAndIsLeasedLater) {
  open();
  const auto runs = submit(300);
  sql("BEGIN");
  sql("UPDATE cairn.workflow_run SET run_at = now() + interval '1 h' WHERE id = '" + runs[5].id.value + "'");
  EXPECT_EQ(lease_many(3).size(), 3u);
  EXPECT_EQ(lease_many(1000).size(), 296u);
  EXPECT_EQ(lease_many(1000).size(), 0u);
  EXPECT_EQ(lease_many(1).size(), 0u);
  EXPECT_EQ(listed(RunStatus::pending), 1u);
  sql("ROLLBACK");
  const auto last = lease_many(1000);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].id, runs[5].id);
}

// There is no notification when a transaction that locked runs ends without leasing them.
TEST_F(RunLeases, WhatSomebodyElseHadLockedIsLookedForAgain) {
  open();
  submit(1);
  expect_another_look([&] { return lease_many(1).size(); });
}

TEST_F(RunLeases, WhatSomebodyElseHadLockedIsLookedForAgainInSeveralTypes) {
  open();
  submit(1);
  expect_another_look([&] {
    const auto leased = store_->lease_runs({"w", {}, {"default.a", "default.none"}, 10, Duration::of_seconds(60)});
    return leased ? leased->size() : 99;
  });
}

TEST_F(RunLeases, WhatSomebodyElseHadLockedIsLookedForAgainInALimitedType) {
  open();
  limit(3);
  submit(1);
  expect_another_look([&] { return lease_many(10).size(); });
}

// Another node may have skipped the runs that it had locked.
TEST_F(RunLeases, AfterALeaseThatFailedThereIsAnotherLook) {
  open();
  submit(1);
  expect_another_look(
      [&] {
        const auto leased = store_->lease_runs({"w", {"default."}, {}, 1, Duration::of_seconds(60)});
        return leased ? leased->size() : 0;
      },
      [&] {
        sql("CREATE FUNCTION cairn.refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not now''; "
            "END'");
        sql("CREATE TRIGGER refuse BEFORE UPDATE ON cairn.workflow_run EXECUTE FUNCTION cairn.refuse()");
      },
      [&] { sql("DROP TRIGGER refuse ON cairn.workflow_run"); });
}

TEST_F(RunLeases, SeveralTypesInOneRequestLockOnlyWhatIsLeased) {
  open();
  submit(5);
  sql("INSERT INTO cairn.workflow_run (type) SELECT 'default.b' FROM generate_series(1, 5)");
  std::size_t left = 10;
  const auto one = [&] { return lease_many(1).size(); };
  for (; left > 0; --left) ASSERT_EQ(one(), 1u) << left;
  EXPECT_EQ(one(), 0u);
}

TEST_F(RunLeases, ManyThatSomebodyKeepsLockedHideNoneOfSeveralTypes) {
  open();
  submit(200, 1);
  submit(3);
  sql("INSERT INTO cairn.workflow_run (type) VALUES ('default.b')");
  sql("BEGIN");
  sql("SELECT count(*) FROM (SELECT 1 FROM cairn.workflow_run WHERE priority = 1 FOR UPDATE) locked");
  EXPECT_EQ(lease_priorities(1), several({{1, 0}}));
  EXPECT_EQ(lease_priorities(10), several({{3, 0}}));
  sql("ROLLBACK");
  EXPECT_EQ(lease_many(1000).size(), 200u);
}

TEST_F(RunLeases, OneForLaterIsLeasedThen) {
  open();
  const Timestamp later = after(store_->now(), Duration::of_seconds(3600));
  submit(300, 9, later);
  submit(1);
  EXPECT_EQ(lease_priorities(1000), several({{1, 0}}));
  EXPECT_EQ(lease_many(1).size(), 0u);
  const auto due = store_->next_due(store_->now());
  ASSERT_TRUE(due.has_value());
  EXPECT_LE(*due, later);
  // As if the hour had passed.
  sql("SET session_replication_role = replica");
  sql("UPDATE cairn.workflow_run SET run_at = run_at - interval '2 h' WHERE priority = 9");
  sql("UPDATE cairn.wf_run_q SET run_at = run_at - interval '2 h' WHERE priority = 9");
  sql("SET session_replication_role = DEFAULT");
  EXPECT_EQ(lease_many(7).size(), 7u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_run_q WHERE later"), "0");
  EXPECT_EQ(lease_many(1000).size(), 293u);
  EXPECT_EQ(store_->queue_faults(10)->size(), 0u);
}

// Its entry moves to the ready ones while it leaves the queue: it must not stay there.
TEST_F(RunLeases, ARunWhoseTimeComesWhileItIsCancelledOrMovedHasNoEntryLeft) {
  open();
  const auto runs = submit(2, 0, after(store_->now(), Duration::of_seconds(3600)));
  sql("BEGIN");
  sql("UPDATE cairn.wf_run_q SET later = false");
  {
    std::jthread canceller([&] { EXPECT_EQ(change(RunChange::Kind::cancel, runs[0]), RunChanged::Kind::done); });
    wait_for_waiter();
    sql("COMMIT");
  }
  EXPECT_EQ(entries(), "1");
  sql("UPDATE cairn.wf_run_q SET later = true");
  sql("BEGIN");
  sql("UPDATE cairn.wf_run_q SET later = false");
  {
    std::jthread mover([&] {
      const std::unique_ptr<PGconn, Finish> other(PQconnectdb(server_.c_str()));
      PQclear(PQexec(other.get(), postgres::for_schema("UPDATE cairn.workflow_run SET run_at = now() + interval '2 h' "
                                                       "WHERE status = 'pending'",
                                                       schema_)
                                      .c_str()));
    });
    wait_for_waiter();
    sql("COMMIT");
  }
  EXPECT_EQ(entries(), "1");
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_run_q WHERE later"), "1");
  EXPECT_EQ(lease_many(10).size(), 0u);
  EXPECT_EQ(store_->queue_faults(10)->size(), 0u);
}

// A node whose clock is behind that of the server, or of the node that made the run.
TEST_F(RunLeases, ARunThatMayBeginIsLeasedWhateverTheClocksSay) {
  ManualClock slow{Timestamp::of_unix_ms(1'700'000'000'000)};
  auto opened = open_store(server_ + "&clock=process&schema=" + schema_, slow);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  store_ = std::move(*opened);
  sql("INSERT INTO cairn.workflow_run (type) VALUES ('default.a'), ('default.b')");
  EXPECT_EQ(lease_many(1).size(), 1u);
  EXPECT_EQ(lease_many(10).size(), 1u);
}

TEST_F(RunLeases, AFloodOfOneKeyHidesNoOther) {
  open();
  limit(1, "payload.customer");
  flood(1, "a", "1");
  EXPECT_EQ(lease_keys(10), (std::multiset<std::string>{"a"}));
  flood(6000, "a");
  flood(2, "b");
  flood(2, "c");
  flood(2, "");
  EXPECT_EQ(lease_keys(10), (std::multiset<std::string>{"b", "c", ""}));
  EXPECT_EQ(lease_keys(10), (std::multiset<std::string>{}));
}

// One of the flood may go, and the others with it.
TEST_F(RunLeases, AFloodOfAKeyThatHasRoomHidesNoOther) {
  open();
  limit(2, "payload.customer");
  flood(6000, "a");
  flood(3, "b");
  flood(1, "");
  EXPECT_EQ(lease_keys(10), (std::multiset<std::string>{"a", "a", "b", "b", ""}));
}

TEST_F(RunLeases, MoreKeysThanOneLookGoesThroughComeInTurn) {
  open();
  limit(1, "payload.customer");
  flood(1, "", "1");
  flood(5000, "");
  sql("SET session_replication_role = replica");
  sql("INSERT INTO cairn.workflow_run (type, limit_key) SELECT 'default.a', 'k' || g FROM generate_series(1, 700) g");
  sql("INSERT INTO cairn.wf_run_q (type, priority, run_at, n, run, later, lapsed, limit_key) "
      "SELECT type, priority, run_at, n, id, false, false, limit_key FROM cairn.workflow_run WHERE limit_key <> ''");
  sql("SET session_replication_role = DEFAULT");
  EXPECT_EQ(lease_keys(1), (std::multiset<std::string>{""}));
  std::set<std::string> keys;
  for (int looks = 0; looks < 100 && keys.size() < 700; ++looks) {
    for (const std::string& key : lease_keys(100)) keys.insert(key);
  }
  EXPECT_EQ(keys.size(), 700u);
}

// The rows that a lease of a limited type reads must not grow with the number of waiting runs.
TEST_F(RunLeases, ALimitedTypeIsLeasedWithoutReadingAllThatWaits) {
  open();
  limit(3);
  for (int batch = 0; batch < 30; ++batch) submit(1000);
  sql("ANALYZE cairn.workflow_run; ANALYZE cairn.wf_run_q");
  store_.reset();
  double before = -1;
  for (double now = entries_read(); now != before; now = entries_read()) before = now;
  open();
  EXPECT_EQ(lease_many(10).size(), 3u);
  EXPECT_EQ(lease_many(10).size(), 0u);
  store_.reset();
  // The server's processes tell when they end.
  for (int tries = 0; tries < 10'000 && entries_read() == before; ++tries) {
  }
  EXPECT_LT(entries_read() - before, 5000);
}

TEST_F(RunLeases, ATypeWithALimitIsCountedRunByRun) {
  open();
  submit(300);
  limit(5);
  EXPECT_EQ(lease_many(100).size(), 5u);
  EXPECT_EQ(lease_many(100).size(), 0u);
  EXPECT_EQ(entries(), "295");
}

TEST_F(RunLeases, ProgramsAskForWhatIsReady) {
  open();
  const auto runs = submit(300);
  submit(300, 1);
  sql("INSERT INTO cairn.workflow_run (type, priority, run_at) VALUES ('default.a', 2, now() + interval '1 h')");
  const std::string lease =
      "UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + interval '1 h' WHERE "
      "id = (SELECT r.id FROM cairn.ready_runs('default.a') AS ready JOIN cairn.workflow_run r ON r.id = ready "
      "WHERE r.status = 'pending' LIMIT 1 FOR UPDATE OF r SKIP LOCKED) RETURNING priority";
  for (int i = 0; i < 301; ++i) ASSERT_EQ(sql(lease), i < 300 ? "1" : "0") << i;
  EXPECT_EQ(change(RunChange::Kind::cancel, runs[299]), RunChanged::Kind::done);
  EXPECT_EQ(lease_many(1000).size(), 298u);
}

// A program that asks for ready runs keeps its transaction open.
TEST_F(RunLeases, AProgramThatAsksForOneTypeLocksNoOther) {
  open();
  submit(2, 0, after(store_->now(), Duration::of_seconds(3600)));
  sql("INSERT INTO cairn.workflow_run (type, run_at) VALUES ('default.b', now() + interval '1 h')");
  sql("SET session_replication_role = replica");
  sql("UPDATE cairn.workflow_run SET run_at = run_at - interval '2 h'");
  sql("UPDATE cairn.wf_run_q SET run_at = run_at - interval '2 h'");
  sql("SET session_replication_role = DEFAULT");
  sql("BEGIN");
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.ready_runs('default.b')"), "1");
  EXPECT_EQ(lease_many(10).size(), 2u) << "those of the other type";
  sql("ROLLBACK");
  EXPECT_EQ(lease_many(10).size(), 1u);
}

TEST_F(RunLeases, AProgramThatLeasesAnExpiredLeaseAgainHasANewOne) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, timeout_ms) VALUES ('default.a', 60000)");
  const auto lease = [&](const std::string& until) {
    return sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + interval '" +
               until + "' RETURNING fence || ' ' || attempt || ' ' || leases");
  };
  EXPECT_EQ(lease("1 h"), "1 0 1") << "its attempt counts when it ends";
  EXPECT_EQ(lease("2 h"), "1 0 1") << "it only extends a lease that it holds";
  sql("SET session_replication_role = replica");
  sql("UPDATE cairn.workflow_run SET lease_until = now() - interval '1 s', attempt_until = now() - interval '1 s'");
  sql("SET session_replication_role = DEFAULT");
  EXPECT_EQ(lease("1 h"), "2 1 2");
  EXPECT_EQ(sql("SELECT attempt_until > now() + interval '50 s' FROM cairn.workflow_run"), "t");
  EXPECT_EQ(sql("SELECT string_agg(event_type || ' ' || attempt, ', ' ORDER BY id) FROM cairn.workflow_event"),
            "created 0, leased 1, leased 2");
  EXPECT_EQ(store_->exhausted_runs(10)->size(), 0u);
  EXPECT_EQ(store_->queue_faults(10)->size(), 0u);
}

// For example a program that notes something about a run after its lease has expired.
TEST_F(RunLeases, AnUpdateThatLeavesTheLeaseExpiredIsNoLease) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, timeout_ms) VALUES ('default.a', 60000)");
  sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + interval '1 h'");
  sql("SET session_replication_role = replica");
  sql("UPDATE cairn.workflow_run SET lease_until = now() - interval '1 s'");
  sql("SET session_replication_role = DEFAULT");
  const std::string numbers = " RETURNING fence || ' ' || attempt || ' ' || leases";
  EXPECT_EQ(sql("UPDATE cairn.workflow_run SET status = 'leased', last_error = 'slow'" + numbers), "1 0 1");
  EXPECT_EQ(sql("UPDATE cairn.workflow_run SET leased_by = 'me', lease_until = now() - interval '2 s'" + numbers),
            "1 0 1");
  EXPECT_EQ(sql("SELECT string_agg(event_type || ' ' || attempt, ', ' ORDER BY id) FROM cairn.workflow_event"),
            "created 0, leased 1");
  EXPECT_EQ(store_->queue_faults(10)->size(), 0u);
}

TEST_F(RunLeases, AProgramCannotLetARunWaitThatHasNoAttemptLeft) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, max_attempts) VALUES ('default.a', 2)");
  const std::string lease =
      "UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + "
      "interval '1 h'";
  const std::string wait = "UPDATE cairn.workflow_run SET status = 'pending', leased_by = NULL, lease_until = NULL";
  const std::string retry = wait + ", attempt = attempt + 1";
  sql(lease);
  sql(retry);
  sql(lease);
  sql(retry + ", max_attempts = 3");
  EXPECT_EQ(sql("SELECT status || ' ' || attempt FROM cairn.workflow_run"), "pending 2");
  sql(lease);
  sql(retry);
  EXPECT_EQ(sql("SELECT status || ' ' || attempt FROM cairn.workflow_run"), "failed 3");
  EXPECT_EQ(lease_many(10).size(), 0u);
}

TEST_F(RunLeases, AChangeOfALockedRunKeepsItsConnectionBriefly) {
  open();
  submit(1);
  const auto runs = lease_many(1);
  ASSERT_EQ(runs.size(), 1u);
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.workflow_run FOR UPDATE");
  const auto begun = std::chrono::steady_clock::now();
  for (const RunChange::Kind kind : {RunChange::Kind::retry, RunChange::Kind::cancel}) {
    const auto changed = store_->change_run(change_of(kind, runs[0]));
    ASSERT_FALSE(changed.has_value());
    EXPECT_EQ(changed.error(),
              (Error{ErrorCode::unavailable, "another transaction has locked run " + runs[0].id.value}));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(15)) << "other locks are waited for 20 s";
  sql("ROLLBACK");
  EXPECT_EQ(change(RunChange::Kind::cancel, runs[0]), RunChanged::Kind::done);
}

TEST_F(RunLeases, AProgramsLeaseHasTheWholeTimeOfItsAttempt) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, timeout_ms, attempt_until) VALUES "
      "('default.a', 60000, now() - interval '1 h')");
  sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + interval '1 h'");
  EXPECT_EQ(sql("SELECT attempt_until > now() + interval '50 s' FROM cairn.workflow_run"), "t");
  EXPECT_EQ(store_->exhausted_runs(10)->size(), 0u);
  sql("UPDATE cairn.workflow_run SET status = 'pending', leased_by = NULL, lease_until = NULL");
  EXPECT_EQ(sql("SELECT attempt_until IS NULL FROM cairn.workflow_run"), "t");
  const auto leased = lease_many(1);
  ASSERT_EQ(leased.size(), 1u);
  EXPECT_EQ(sql("SELECT attempt_until > now() FROM cairn.workflow_run"), "t");
  EXPECT_EQ(change(RunChange::Kind::release, leased[0]), RunChanged::Kind::done);
  EXPECT_EQ(sql("SELECT attempt_until IS NULL FROM cairn.workflow_run"), "t");
}

// Programs may write values that this process cannot read: numbers outside the range of double, and deep nesting.
TEST_F(RunLeases, AValueThatCannotBeReadHoldsUpNobody) {
  open();
  const std::string deep = std::string(600, '[') + std::string(600, ']');
  for (const std::string type : {"default.a", "default.b"}) {
    sql("INSERT INTO cairn.workflow_run (type, payload) VALUES ('" + type + "', '1e400'), ('" + type + "', '" + deep +
        "'), ('" + type + "', '7')");
  }
  EXPECT_EQ(listed(RunStatus::pending), 6u);
  const auto only = store_->lease_runs({"w", {}, {"default.a"}, 10, Duration::of_seconds(60)});
  ASSERT_TRUE(only.has_value()) << only.error().message;
  ASSERT_EQ(only->size(), 1u);
  EXPECT_EQ((*only)[0].payload, Json(7));
  submit(1);
  EXPECT_EQ(lease_many(10).size(), 2u) << "of two types";
  EXPECT_EQ(listed(RunStatus::failed), 4u);
  EXPECT_EQ(sql("SELECT string_agg(DISTINCT error ->> 'code', ' ') FROM cairn.workflow_run WHERE status = 'failed'"),
            "unreadable");
  EXPECT_EQ(store_->list_dead_letters({100, ""})->items.size(), 4u);
  EXPECT_EQ(entries(), "0");
  EXPECT_EQ(store_->queue_faults(10)->size(), 0u);
  sql("INSERT INTO cairn.outbox_event (event_type, payload) VALUES ('t', '1e400'), ('t', '1')");
  const SinkFilter sink{"s"};
  const auto claimed = store_->claim_outbox({&sink, 1}, {sink.name, 10, Duration::of_seconds(60)});
  ASSERT_TRUE(claimed.has_value()) << claimed.error().message;
  ASSERT_EQ(claimed->size(), 1u);
  EXPECT_EQ((*claimed)[0].event.data, Json(1));
  EXPECT_EQ(store_->list_dead_letters({100, ""})->items.size(), 5u);
  EXPECT_EQ(store_->list_outbox({}, {100, ""})->items.size(), 2u);
}

// Large and small requests of one and of several types, and runs that are put in meanwhile: each run goes to one of
// them.
TEST_F(RunLeases, ManyWhoAskAtOnceShareWhatThereIs) {
  open();
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::atomic<std::size_t> waiting = 0;
  std::vector<std::vector<std::string>> taken(4);
  {
    std::vector<std::jthread> workers;
    workers.emplace_back([&] {
      for (int i = 0; i < 8; ++i) {
        submit(450 + static_cast<std::size_t>(i), i % 3);
        sql("INSERT INTO cairn.workflow_run (type, priority) SELECT 'default.b', g % 2 FROM generate_series(1, 30) g");
        ++waiting;
      }
    });
    for (std::size_t number = 0; number < taken.size(); ++number) {
      workers.emplace_back([&, number] {
        std::minstd_rand random(seed + static_cast<unsigned>(number));
        for (;;) {
          const bool all_in = waiting == 8;
          const auto runs = lease_many(number < 2 ? 64 + random() % 700 : 1 + random() % 40);
          for (const RunRow& run : runs) taken[number].push_back(run.id.value);
          if (all_in && runs.empty()) break;
        }
      });
    }
  }
  std::set<std::string> different;
  std::size_t all = 0;
  for (auto rest = lease_many(1000); !rest.empty(); rest = lease_many(1000)) {
    for (const RunRow& run : rest) taken[0].push_back(run.id.value);
  }
  for (const auto& mine : taken) {
    different.insert(mine.begin(), mine.end());
    all += mine.size();
  }
  EXPECT_EQ(all, 8u * 480 + 28);
  EXPECT_EQ(different.size(), all);
  EXPECT_EQ(entries(), "0");
}

}  // namespace cairn
