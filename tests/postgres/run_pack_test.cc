// Runs that were submitted together stand in the queue as packs: whoever asks, in whatever way, gets each of them once
// and in its order.
#include <atomic>
#include <random>
#include <thread>

#include "postgres/run_queue_fixture.h"
#include "store/projection.h"

namespace cairn {

namespace {

class RunPack : public RunQueue {
 protected:
  std::string packs() {
    return sql(
        "SELECT string_agg(cardinality(runs)::text, ' ' ORDER BY priority DESC, run_at, n) FROM cairn.wf_run_pack_q");
  }
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
    asked.reason = "no longer needed";
    const auto changed = store_->change_run(asked);
    EXPECT_TRUE(changed.has_value()) << (changed ? "" : changed.error().message);
    return changed ? changed->kind : RunChanged::Kind::not_found;
  }
  // Until somebody waits for a lock that another has.
  void wait_for_waiter() {
    const std::string waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%" + schema_ + "%'";
    for (int tries = 0; tries < 100'000 && sql(waiting) == "0"; ++tries) {
    }
    EXPECT_NE(sql(waiting), "0");
  }
};

std::vector<std::int64_t> several(std::initializer_list<std::pair<std::size_t, std::int64_t>> parts) {
  std::vector<std::int64_t> list;
  for (const auto& [count, value] : parts) list.insert(list.end(), count, value);
  return list;
}

}  // namespace

TEST_F(RunPack, RunsOfOneSubmissionHaveOneEntryTogether) {
  open();
  submit(1250);
  EXPECT_EQ(packs(), "500 500 250");
  EXPECT_EQ(entries(), "0");
  EXPECT_EQ(listed(RunStatus::pending), 100u) << "a full page";
  const auto figures = store_->figures(10'000);
  ASSERT_TRUE(figures.has_value());
  EXPECT_EQ(figures->runs_ready, 1250u);
  EXPECT_EQ(lease_many(2000).size(), 1250u);
  EXPECT_EQ(packs(), "");
}

TEST_F(RunPack, AFewHaveAnEntryEach) {
  open();
  submit(99);
  EXPECT_EQ(packs(), "");
  EXPECT_EQ(entries(), "99");
}

TEST_F(RunPack, EntriesAndPacksAreLeasedInTheirOrder) {
  open();
  submit(300);
  submit(3, 5);
  submit(200, 5);
  submit(2, 5);
  submit(2, -1);
  submit(150, -2);
  EXPECT_EQ(lease_priorities(400), several({{205, 5}, {195, 0}}));
  EXPECT_EQ(packs(), "105 150");
  EXPECT_EQ(lease_priorities(400), several({{105, 0}, {2, -1}, {150, -2}}));
  EXPECT_EQ(packs(), "");
  EXPECT_EQ(entries(), "0");
}

TEST_F(RunPack, ASmallQuestionOpensPartOfOne) {
  open();
  submit(300);
  submit(300, -1);
  EXPECT_EQ(lease_priorities(10), several({{10, 0}}));
  EXPECT_EQ(packs(), "236 300");
  EXPECT_EQ(entries(), "54");
  EXPECT_EQ(lease_priorities(400), several({{290, 0}, {110, -1}}));
  EXPECT_EQ(lease_priorities(63), several({{63, -1}}));
  EXPECT_EQ(lease_priorities(400), several({{127, -1}}));
}

TEST_F(RunPack, AMoreUrgentPackIsOpenedBeforeEntriesAreTaken) {
  open();
  submit(50);
  submit(150, 1);
  EXPECT_EQ(lease_priorities(3), several({{3, 1}}));
}

TEST_F(RunPack, WhoIsCancelledOrTakenByAProgramIsNotLeased) {
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
  EXPECT_EQ(packs(), "294");
  EXPECT_EQ(entries(), "2") << "one that is more urgent, and one for later";
  EXPECT_EQ(lease_priorities(1000), several({{1, 3}, {294, 0}}));
  EXPECT_EQ(packs(), "");
  EXPECT_EQ(entries(), "1");
}

TEST_F(RunPack, WhoLeasesIsToldTheRunAsItIs) {
  open();
  std::vector<RunRow> runs(700);
  for (RunRow& run : runs) {
    run.id = {new_uuid(store_->now())};
    run.type = "default.a";
    run.payload = Json::object({{"i", static_cast<std::int64_t>(&run - runs.data())}});
    run.priority = 4;
    run.attempts_max = 7;
    run.backoff = Duration::of_ms(1500);
    run.factor = 3;
    run.cap = Duration::of_seconds(9);
    run.jitter = 0.25;
    run.timeout = Duration::of_seconds(40);
    run.limit_key = "a customer";
  }
  ASSERT_TRUE(store_->submit_runs(runs).has_value());
  const auto where = [&](std::size_t i) { return " WHERE id = '" + runs[i].id.value + "'"; };
  sql("UPDATE cairn.workflow_run SET max_attempts = 9" + where(0));
  sql("UPDATE cairn.workflow_run SET backoff_ms = 20" + where(600));
  EXPECT_EQ(packs(), "499 199");
  EXPECT_EQ(entries(), "2");
  const auto leased = lease_many(1000);
  ASSERT_EQ(leased.size(), 700u);
  for (const RunRow& run : leased) {
    const auto stored = store_->find_run(run.id);
    ASSERT_TRUE(stored.has_value() && stored->has_value());
    EXPECT_EQ(run, **stored);
  }
}

TEST_F(RunPack, WhatSomebodyKeepsLockedHoldsUpNobodyAndIsLeasedLater) {
  open();
  const auto runs = submit(300);
  sql("BEGIN");
  sql("SELECT 1 FROM cairn.workflow_run WHERE id = '" + runs[5].id.value + "' FOR UPDATE");
  EXPECT_EQ(lease_many(1000).size(), 299u);
  EXPECT_EQ(lease_many(1000).size(), 0u);
  sql("ROLLBACK");
  EXPECT_EQ(packs(), "");
  EXPECT_EQ(entries(), "1");
  const auto last = lease_many(1000);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].id, runs[5].id);
}

TEST_F(RunPack, PacksOfWhichAllAreCancelledHideNothingBehindThem) {
  open();
  for (const std::int64_t priority : {4, 3, 2, 1, 0}) submit(100, priority);
  sql("UPDATE cairn.workflow_run SET status = 'cancelled' WHERE priority > 0");
  EXPECT_EQ(lease_priorities(64), several({{64, 0}}));
  EXPECT_EQ(packs(), "36");
  sql("UPDATE cairn.workflow_run SET status = 'cancelled' WHERE status = 'pending'");
  EXPECT_EQ(lease_many(64).size(), 0u);
  EXPECT_EQ(packs(), "");
}

// The pack that the canceller finds is opened before it can take the run out of it.
TEST_F(RunPack, ARunThatIsCancelledWhileItsPackIsOpenedHasNoEntry) {
  open();
  const auto runs = submit(300);
  sql("BEGIN");
  EXPECT_EQ(sql("SELECT cairn.wf_open_packs('default.a', now() + interval '1 h', 1)"), "64");
  std::jthread canceller([&] { EXPECT_EQ(change(RunChange::Kind::cancel, runs[5]), RunChanged::Kind::done); });
  {
    const std::unique_ptr<PGconn, Finish> opener = std::move(connection_);
    wait_for_waiter();
    PQclear(PQexec(opener.get(), "COMMIT"));
    canceller.join();
  }
  EXPECT_EQ(entries(), "63");
  EXPECT_EQ(lease_many(1000).size(), 299u);
}

TEST_F(RunPack, ATypeWithALimitCountsRunsAndNotPacks) {
  open();
  submit(300);
  RunTypeRow rule;
  rule.type = "default.a";
  rule.concurrency = 5;
  ASSERT_TRUE(store_->put_run_type(rule).has_value());
  EXPECT_EQ(lease_many(100).size(), 5u);
  EXPECT_EQ(lease_many(100).size(), 0u);
  EXPECT_EQ(entries(), "295");
}

TEST_F(RunPack, OneForLaterIsLeasedThen) {
  open();
  const Timestamp later = after(store_->now(), Duration::of_seconds(3600));
  submit(300, 0, later);
  EXPECT_EQ(lease_many(1000).size(), 0u);
  EXPECT_EQ(lease_many(1).size(), 0u);
  const auto due = store_->next_due();
  ASSERT_TRUE(due.has_value());
  EXPECT_EQ(*due, later);
}

TEST_F(RunPack, ProgramsAskForWhatIsReady) {
  open();
  const auto runs = submit(300);
  submit(300, 1);
  const std::string lease =
      "UPDATE cairn.workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + interval '1 h' WHERE "
      "id = "
      "(SELECT r.id FROM cairn.ready_runs('default.a') AS ready JOIN cairn.workflow_run r ON r.id = ready "
      "WHERE r.status = 'pending' LIMIT 1 FOR UPDATE OF r SKIP LOCKED) RETURNING priority";
  for (int i = 0; i < 301; ++i) ASSERT_EQ(sql(lease), i < 300 ? "1" : "0") << i;
  EXPECT_EQ(change(RunChange::Kind::cancel, runs[299]), RunChanged::Kind::done);
  EXPECT_EQ(lease_many(1000).size(), 298u);
}

// Large and small questions, and runs that are put in meanwhile: each run goes to one of them.
TEST_F(RunPack, ManyWhoAskAtOnceShareWhatThereIs) {
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
        submit(30, i % 2);
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
  // What the last two found locked, one of them may have put back.
  for (auto rest = lease_many(1000); !rest.empty(); rest = lease_many(1000)) {
    for (const RunRow& run : rest) taken[0].push_back(run.id.value);
  }
  for (const auto& mine : taken) {
    different.insert(mine.begin(), mine.end());
    all += mine.size();
  }
  EXPECT_EQ(all, 8u * 480 + 28);
  EXPECT_EQ(different.size(), all);
  EXPECT_EQ(packs(), "");
  EXPECT_EQ(entries(), "0");
}

}  // namespace cairn
