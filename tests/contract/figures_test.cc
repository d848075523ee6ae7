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
  EXPECT_FALSE(figures.message_since);
  EXPECT_EQ(must(store().figures(2)).suspended, 2u) << "nothing is counted further than asked";
}

}  // namespace cairn
