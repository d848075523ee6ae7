#include "sample.h"
#include "store_under_test.h"

namespace cairn {

CAIRN_CONTRACT(Figures);

TEST_P(Figures, OfAnEmptyStoreAreNothing) { EXPECT_EQ(must(store().figures(10)), StoreFigures()); }

TEST_P(Figures, CountWhatSomebodyShouldKnowAndSayHowOldItIs) {
  for (const char* id : {"a", "b", "c"}) {
    Advance advance = sample::begin(id);
    sample::add_task(advance, std::string("task-") + id);
    advance.after.status = Status::suspended;
    ASSERT_EQ(commit(advance).kind, CommitOutcome::Kind::done);
  }
  Advance failing = sample::begin("d");
  failing.after.status = Status::failed;
  failing.after.strands.clear();
  ASSERT_EQ(commit(failing).kind, CommitOutcome::Kind::done);
  const Timestamp began = clock_.now();
  for (const char* id : {"r1", "r2", "r3"}) {
    RunRow run;
    run.id = {id};
    run.type = "demo.a.v1";
    run.run_at = clock_.now();
    must(store().submit_run(run));
    clock_.advance(Duration::of_seconds(1));
  }
  RunRow later;
  later.id = {"r4"};
  later.type = "demo.b.v1";
  later.run_at = Timestamp::of_unix_ms(clock_.now().unix_ms() + 3'600'000);
  must(store().submit_run(later));
  LeaseRequest lease;
  lease.worker = "w";
  lease.types = {"demo.a.v1"};
  lease.length = Duration::of_seconds(30);
  ASSERT_EQ(must(store().lease_runs(lease)).size(), 1u);
  const Timestamp leased_at = clock_.now();
  must(store().put_dead_letter({0, std::nullopt, "message", Json::object(), "for no reason", "n", {}}));

  const StoreFigures figures = must(store().figures(100));
  EXPECT_EQ(figures.suspended, 3u);
  EXPECT_EQ(figures.failed, 1u);
  EXPECT_EQ(figures.tasks_open, 3u);
  EXPECT_EQ(figures.runs_ready, 2u);
  EXPECT_EQ(figures.runs_leased, 1u);
  EXPECT_EQ(figures.dead_letters, 1u);
  ASSERT_TRUE(figures.run_ready_since);
  EXPECT_EQ(*figures.run_ready_since, Timestamp::of_unix_ms(began.unix_ms() + 1'000));
  ASSERT_TRUE(figures.run_leased_since);
  EXPECT_EQ(*figures.run_leased_since, leased_at);
  EXPECT_FALSE(figures.message_since);
  EXPECT_EQ(must(store().figures(2)).suspended, 2u) << "nothing is counted further than asked";
}

TEST_P(Figures, ALeaseOfTheCommitThatMadeTheRunBeganThen) {
  Unit unit;
  unit.advances = {sample::begin("a")};
  sample::add_run(unit.advances[0], "call", "demo.a.v1");
  unit.lease = RunLease{"node", Duration::of_seconds(30), {"demo.a.v1"}};
  const Timestamp leased_at = clock_.now();
  const CommitOutcome outcome = commit(unit);
  ASSERT_EQ(outcome.leased.size(), 1u);
  clock_.advance(Duration::of_seconds(20));
  RunChange heartbeat;
  heartbeat.run = {"call"};
  heartbeat.fence = outcome.leased[0].fence;
  heartbeat.length = Duration::of_seconds(30);
  ASSERT_EQ(must(store().change_run(heartbeat)).kind, RunChanged::Kind::done);
  EXPECT_EQ(must(store().figures(100)).run_leased_since, leased_at);
}

TEST_P(Figures, CountTheOpenInstancesOfEachDefinition) {
  const auto put = [&](const std::string& id, const char* definition, Status status) {
    Advance advance = sample::begin(id);
    advance.after.program.name = definition;
    advance.after.status = status;
    if (is_final(status)) advance.after.strands.clear();
    ASSERT_EQ(commit(advance).kind, CommitOutcome::Kind::done);
  };
  put("a1", "loan", Status::waiting);
  put("a2", "loan", Status::waiting);
  put("a3", "loan", Status::suspended);
  put("b1", "card", Status::waiting);
  put("c1", "visa", Status::completed);
  using Definitions = std::vector<DefinitionFigures>;
  EXPECT_EQ(must(store().figures(100)).definitions, (Definitions{{"card", 1, 0}, {"loan", 2, 1}}));
  EXPECT_EQ(must(store().figures(1)).definitions, (Definitions{{"card", 1, 0}, {"loan", 1, 1}}));
  EXPECT_EQ(must(store().figures(100, 2)).definitions, (Definitions{{"card", 1, 0}, {"loan", 2, 1}}));
  put("d1", "zoom", Status::waiting);
  EXPECT_EQ(must(store().figures(100, 1)).definitions, (Definitions{{"card", 1, 0}, {"", 3, 1}})) << "the others";
  EXPECT_EQ(must(store().figures(2, 1)).definitions, (Definitions{{"card", 1, 0}, {"", 2, 1}}));
  EXPECT_EQ(must(store().figures(100, 2)).definitions, (Definitions{{"card", 1, 0}, {"loan", 2, 1}, {"", 1, 0}}));

  Advance next = sample::next(must(store().find_snapshot({"a1"})).value());
  next.after.status = Status::suspended;
  ASSERT_EQ(commit(next).kind, CommitOutcome::Kind::done);
  Advance end = sample::next(must(store().find_snapshot({"b1"})).value());
  end.after.status = Status::cancelled;
  end.after.strands.clear();
  ASSERT_EQ(commit(end).kind, CommitOutcome::Kind::done);
  EXPECT_EQ(must(store().figures(100)).definitions, (Definitions{{"loan", 1, 2}, {"zoom", 1, 0}}));
}

TEST_P(Figures, CountTheReadyRunsOfEachType) {
  const auto put = [&](const char* id, const char* type, Duration in) {
    RunRow run;
    run.id = {id};
    run.type = type;
    run.run_at = *add(clock_.now(), in);
    must(store().submit_run(run));
  };
  const Timestamp began = clock_.now();
  put("r1", "billing.charge.v1", {});
  clock_.advance(Duration::of_seconds(1));
  put("r2", "billing.charge.v1", {});
  put("r3", "billing.refund.v1", Duration::of_seconds(5));
  put("r4", "mail", {});
  const Timestamp second = clock_.now();
  using Queues = std::vector<QueueFigures>;
  EXPECT_EQ(must(store().figures(100)).queues, (Queues{{"billing.charge.v1", 2, began}, {"mail", 1, second}}));
  clock_.advance(Duration::of_seconds(5));
  EXPECT_EQ(must(store().figures(100)).queues,
            (Queues{{"billing.charge.v1", 2, began}, {"billing.refund.v1", 1, clock_.now()}, {"mail", 1, second}}));
  EXPECT_EQ(must(store().figures(100, 3)).queues.size(), 3u);
  EXPECT_EQ(must(store().figures(100, 1)).queues, (Queues{{"billing.charge.v1", 2, began}, {"", 2, second}}))
      << "all others";
  LeaseRequest lease;
  lease.worker = "w";
  lease.prefixes = {"billing."};
  lease.max = 10;
  lease.length = Duration::of_seconds(30);
  ASSERT_EQ(must(store().lease_runs(lease)).size(), 3u);
  EXPECT_EQ(must(store().figures(100)).queues, (Queues{{"mail", 1, second}}));
}

TEST(Queues, AreToldApartByTheFirstPartOfAType) {
  EXPECT_EQ(type_prefix("billing.charge.v1"), "billing.");
  EXPECT_EQ(type_prefix("mail"), "mail");
}

}  // namespace cairn
