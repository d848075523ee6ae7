// The queue of runs beside the runs, whatever programs do with plain SQL.
#include <set>
#include <thread>

#include "postgres/run_queue_fixture.h"

namespace cairn {

namespace {

using Names = std::multiset<std::string>;

}  // namespace

TEST_F(RunQueue, AStoreFromBeforeTheFirstReleaseIsRefused) {
  sql("SET client_min_messages = error; CREATE SCHEMA " + schema_);
  sql("CREATE TABLE cairn.wf_schema (version integer NOT NULL); INSERT INTO cairn.wf_schema (version) VALUES (18)");
  const auto opened = open_store(server_ + "&schema=" + schema_, clock_);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
  EXPECT_NE(opened.error().message.find("pre-release version of cairn (schema 18)"), std::string::npos)
      << opened.error().message;
}

TEST_F(RunQueue, FollowsWhatProgramsWrite) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, payload) VALUES ('default.a', '1'), ('default.a', '2'), ('default.a', "
      "'3'), "
      "('default.a', '4'), ('default.a', '5'), ('default.a', '6'), ('default.a', '7')");
  sql("UPDATE cairn.workflow_run SET priority = 9 WHERE payload = '1'");
  sql("UPDATE cairn.workflow_run SET deleted_at = now() WHERE payload = '2'");
  sql("UPDATE cairn.workflow_run SET run_at = now() + interval '1 h' WHERE payload = '3'");
  sql("UPDATE cairn.workflow_run SET status = 'cancelled' WHERE payload = '4'");
  sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'x', lease_until = now() + interval '1 h' WHERE "
      "payload = '5'");
  sql("UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'x', lease_until = now() - interval '1 s' WHERE "
      "payload = '6'");
  sql("DELETE FROM cairn.workflow_run WHERE payload = '7'");
  EXPECT_EQ(sql("SELECT string_agg(r.payload::text, ' ' ORDER BY q.priority DESC, q.n) FROM cairn.wf_run_q q LEFT JOIN "
                "cairn.workflow_run r ON r.id = q.run"),
            "1 3");
  EXPECT_EQ(lease(), (Names{"1", "6"})) << "and the one whose lease has ended";
  sql("UPDATE cairn.workflow_run SET status = 'pending', leased_by = NULL, lease_until = NULL WHERE payload = '5'");
  EXPECT_EQ(lease(), (Names{"5"}));
  EXPECT_EQ(sql("SELECT string_agg(r.payload::text, ' ') FROM cairn.wf_run_q q LEFT JOIN cairn.workflow_run r ON r.id "
                "= q.run"),
            "3");
}

TEST_F(RunQueue, WhatAProgramInsertsAsFailedIsListedAsFailed) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, status) VALUES ('default.echo', 'failed'), ('default.echo', 'failed'), "
      "('default.echo', 'cancelled'), ('default.echo', 'succeeded')");
  EXPECT_EQ(listed(RunStatus::failed), 2u);
  EXPECT_EQ(listed(RunStatus::cancelled), 1u);
  EXPECT_EQ(listed(RunStatus::succeeded), 1u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_event"), "4");
}

TEST_F(RunQueue, ALeaseThatAProgramShortensEndsSooner) {
  open();
  sql("INSERT INTO cairn.workflow_run (type, payload) VALUES ('default.a', '1')");
  EXPECT_EQ(lease(), (Names{"1"}));
  EXPECT_EQ(lease(), Names());
  sql("UPDATE cairn.workflow_run SET lease_until = now() - interval '1 s'");
  EXPECT_EQ(lease(), (Names{"1"}));
  EXPECT_EQ(sql("SELECT leases FROM cairn.workflow_run"), "2");
}

TEST_F(RunQueue, NeitherALeaseNorASuccessWritesIndexEntries) {
  open();
  const std::string size =
      "SELECT string_agg(attname, ' ') FROM pg_index i JOIN pg_attribute a ON a.attrelid = "
      "i.indrelid AND (a.attnum = ANY (i.indkey) OR position(':varattno ' || a.attnum || ' ' in "
      "i.indpred::text) > 0) WHERE i.indrelid = '" +
      schema_ +
      ".workflow_run'::regclass AND attname IN ('status', 'lease_until', 'leased_by', 'attempt', "
      "'fence', 'leases', 'updated_at', 'turns', 'attempt_until', 'result')";
  EXPECT_EQ(sql(size), "") << "an index on a column that changes ends heap-only updates";
}

// Each lease skips rows that the other has leased but not committed: no run is taken twice, and none is left.
TEST_F(RunQueue, LargeQuestionsAtOnceShareWhatThereIs) {
  open();
  submit(1000);
  submit(1000, 1);
  submit(1000, -1);
  std::vector<std::vector<std::string>> taken(3);
  std::vector<std::jthread> workers;
  for (std::vector<std::string>& mine : taken) {
    workers.emplace_back([&] {
      for (auto runs = lease_many(150); !runs.empty(); runs = lease_many(150)) {
        for (const RunRow& run : runs) mine.push_back(run.id.value);
      }
    });
  }
  workers.clear();
  for (auto rest = lease_many(150); !rest.empty(); rest = lease_many(150)) {
    for (const RunRow& run : rest) taken[0].push_back(run.id.value);
  }
  std::set<std::string> different;
  std::size_t all = 0;
  for (const auto& mine : taken) {
    different.insert(mine.begin(), mine.end());
    all += mine.size();
  }
  EXPECT_EQ(all, 3000u);
  EXPECT_EQ(different.size(), 3000u);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_run_q"), "0");
}

TEST_F(RunQueue, ALeasedRunComesWithAllThatIsKnownOfIt) {
  open();
  RunRow asked;
  asked.id = {new_uuid(store_->now())};
  asked.type = "default.a";
  asked.payload = Json::object({{"a", 1}});
  asked.priority = 7;
  asked.idempotency_key = "k";
  asked.attempts_max = 5;
  asked.backoff = Duration::of_ms(10);
  asked.factor = 3;
  asked.cap = Duration::of_ms(1000);
  asked.jitter = 0.25;
  asked.timeout = Duration::of_seconds(9);
  asked.limit_key = "l";
  ASSERT_TRUE(store_->submit_run(asked).has_value());
  for (const int attempt : {1, 2}) {
    const auto leased = lease_many(10);
    ASSERT_EQ(leased.size(), 1u);
    EXPECT_EQ(leased[0], **store_->find_run(asked.id)) << "attempt " << attempt;
    RunChange retry;
    retry.kind = RunChange::Kind::retry;
    retry.run = asked.id;
    retry.fence = leased[0].fence;
    retry.error = Json::object({{"code", "e"}, {"message", "m"}});
    ASSERT_TRUE(store_->change_run(retry).has_value());
  }
}

// For both ways of a batch: by the leases known to this node, or by id.
TEST_F(RunQueue, EndsAreAnsweredOneByOne) {
  open();
  submit(6);
  const auto runs = lease_many(10);
  ASSERT_EQ(runs.size(), 6u);
  const auto end = [&](std::size_t i, RunStatus status = RunStatus::succeeded) {
    return RunEnd{runs[i].id,
                  runs[i].fence,
                  status,
                  Json(1),
                  status == RunStatus::failed ? Json::object({{"code", "e"}}) : Json(),
                  "w"};
  };
  const auto kinds = [&](std::vector<RunEnd> ends) {
    const auto outcomes = store_->end_runs(ends);
    EXPECT_TRUE(outcomes.has_value()) << (outcomes ? "" : outcomes.error().message);
    std::vector<CommitOutcome::Kind> list;
    for (const CommitOutcome& outcome : outcomes ? *outcomes : std::vector<CommitOutcome>())
      list.push_back(outcome.kind);
    return list;
  };
  using Kind = CommitOutcome::Kind;
  ASSERT_TRUE(store_->traits().ends_runs_directly);
  // The last first, and one of them twice.
  EXPECT_EQ(kinds({end(1), end(0), end(1)}), (std::vector{Kind::done, Kind::done, Kind::stale}));
  // A program took a lease over: this node's memory of it is wrong.
  sql("UPDATE cairn.workflow_run SET leased_by = 'x' WHERE id = '" + runs[3].id.value + "'");
  EXPECT_EQ(kinds({end(2), end(3), end(0)}), (std::vector{Kind::done, Kind::stale, Kind::stale}));
  EXPECT_EQ(kinds({end(4, RunStatus::failed), end(5)}), (std::vector{Kind::done, Kind::done}));
  EXPECT_EQ(listed(RunStatus::succeeded), 4u);
  EXPECT_EQ(listed(RunStatus::failed), 1u);
  EXPECT_EQ(listed(RunStatus::leased), 1u);
  EXPECT_EQ(
      sql("SELECT string_agg(event_type || ' ' || n, ', ' ORDER BY event_type) FROM (SELECT event_type, count(*) AS n "
          "FROM cairn.workflow_event GROUP BY event_type) e"),
      "created 6, failed 1, leased 7, succeeded 4");
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.workflow_event WHERE event_type = 'succeeded' AND attempt = 1 AND "
                "actor = 'w'"),
            "4");
}

}  // namespace cairn
