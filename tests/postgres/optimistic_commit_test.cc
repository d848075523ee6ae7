// A node commits optimistically, without reading first. The result must be the same as with a read: outdated units are
// stale and leave no trace, and the other units of the batch are written.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "base/clock.h"
#include "sample.h"
#include "store/audit_chain.h"
#include "store/open.h"
#include "store/postgres/wire/connection.h"

namespace cairn {
namespace {

constexpr Duration hold = Duration::of_seconds(30);
using Kind = CommitOutcome::Kind;

// Records the statements.
class Listener final : public postgres::Conductor {
 public:
  Listener() { postgres::Connection::conduct(this); }
  ~Listener() override { postgres::Connection::conduct(nullptr); }
  void before(postgres::Connection&, postgres::Sql statement) override {
    const std::lock_guard lock(mutex_);
    sent_.insert(statement);
  }
  // Whether anything was looked up before it was written.
  bool asked() {
    const std::lock_guard lock(mutex_);
    using postgres::Sql;
    for (const Sql question : {Sql::lock_instances, Sql::lock_runs, Sql::lock_timers, Sql::lock_messages}) {
      if (sent_.contains(question)) return true;
    }
    return false;
  }

 private:
  std::mutex mutex_;
  std::set<postgres::Sql> sent_;
};

class OptimisticCommitTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    schema_ = "assumption_" + std::to_string(::getpid());
    ours_ = open();
    theirs_ = open();
    ASSERT_NE(ours_, nullptr);
    ASSERT_NE(theirs_, nullptr);
    // Until it has looked once, a node takes nothing for granted.
    Unit look = unit_of(sample::begin("first"));
    sample::add_run(look.advances[0], "first-run", "other.type");
    ASSERT_EQ(commit(*ours_, {look}), std::vector{Kind::done});
  }
  void TearDown() override {
    ours_.reset();
    theirs_.reset();
    if (server_.empty()) return;
    sql("SET client_min_messages = error; DROP SCHEMA " + schema_ + " CASCADE");
  }
  // How many rows the statement changed or found.
  std::string sql(const std::string& text) const {
    PGconn* connection = PQconnectdb(server_.c_str());
    PGresult* result = PQexec(connection, text.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << PQerrorMessage(connection);
    const std::string rows = PQcmdTuples(result);
    PQclear(result);
    PQfinish(connection);
    return rows;
  }
  std::unique_ptr<Store> open() {
    auto opened = open_store(server_ + "&clock=process&schema=" + schema_, clock_);
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : nullptr;
  }
  static Unit unit_of(Advance advance) {
    Unit unit;
    unit.advances = {std::move(advance)};
    return unit;
  }
  static std::vector<Kind> commit(Store& store, const std::vector<Unit>& units) {
    std::vector<Kind> kinds;
    const auto outcomes = store.commit(units);
    EXPECT_TRUE(outcomes.has_value()) << (outcomes ? "" : outcomes.error().message);
    if (outcomes) {
      for (const CommitOutcome& outcome : *outcomes) kinds.push_back(outcome.kind);
    }
    return kinds;
  }
  // Started here: this node knows it.
  Snapshot started(const std::string& id) {
    EXPECT_EQ(commit(*ours_, {unit_of(sample::begin(id))}), std::vector{Kind::done});
    return sample::begin(id).after;
  }
  std::uint64_t version_of(const std::string& id) {
    const auto row = theirs_->find_instance({id});
    return row && *row ? (*row)->state_version : 0;
  }

  ManualClock clock_{sample::start_of_time};
  std::string server_, schema_;
  std::unique_ptr<Store> ours_, theirs_;
};

TEST_F(OptimisticCommitTest, WhatIsKnownIsNotAskedAbout) {
  // Numbers for new instances are kept for 250 ms only: a busy machine needs more than one try.
  bool asked = true;
  for (int tries = 0; asked && tries < 100; ++tries) {
    const std::string number = std::to_string(tries);
    const Snapshot a = started("a" + number);
    Listener listener;
    EXPECT_EQ(commit(*ours_, {unit_of(sample::next(a)), unit_of(sample::begin("b" + number))}),
              (std::vector{Kind::done, Kind::done}));
    asked = listener.asked();
    EXPECT_EQ(version_of("a" + number), 2u);
    EXPECT_EQ(version_of("b" + number), 1u);
  }
  EXPECT_FALSE(asked);
}

TEST_F(OptimisticCommitTest, AStaleUnitDoesNotSpoilItsNeighbours) {
  const Snapshot a = started("a"), b = started("b");
  ASSERT_EQ(commit(*theirs_, {unit_of(sample::next(a))}), std::vector{Kind::done});
  EXPECT_EQ(commit(*ours_, {unit_of(sample::next(a)), unit_of(sample::next(b))}),
            (std::vector{Kind::stale, Kind::done}));
  EXPECT_EQ(version_of("a"), 2u);
  EXPECT_EQ(version_of("b"), 2u);
  const auto history = theirs_->history({"b"}, {});
  ASSERT_TRUE(history.has_value());
  EXPECT_EQ(history->items.size(), 1u) << "the attempt that was given up left nothing";
}

// The row of a writer and the rows of a batch fail with the same error. Only a lost row of the writer adds a new one.
TEST_F(OptimisticCommitTest, AWriterWhoseRowIsGoneAddsANewOne) {
  const Snapshot a = started("a"), b = started("b");
  EXPECT_NE(sql("DELETE FROM " + schema_ + ".wf_writers"), "0");
  EXPECT_EQ(commit(*ours_, {unit_of(sample::next(a))}), std::vector{Kind::done});
  EXPECT_EQ(version_of("a"), 2u);
  EXPECT_EQ(sql("SELECT 1 FROM " + schema_ + ".wf_writers"), "1");
  ASSERT_EQ(commit(*theirs_, {unit_of(sample::next(b))}), std::vector{Kind::done});
  const std::string writers = sql("SELECT 1 FROM " + schema_ + ".wf_writers");
  EXPECT_EQ(commit(*ours_, {unit_of(sample::next(b))}), std::vector{Kind::stale});
  EXPECT_EQ(sql("SELECT 1 FROM " + schema_ + ".wf_writers"), writers);
}

TEST_F(OptimisticCommitTest, AnIdThatSomebodyElseStartedIsStale) {
  const Snapshot b = started("b");
  ASSERT_EQ(commit(*theirs_, {unit_of(sample::begin("a"))}), std::vector{Kind::done});
  EXPECT_EQ(commit(*ours_, {unit_of(sample::begin("a")), unit_of(sample::next(b))}),
            (std::vector{Kind::stale, Kind::done}));
}

TEST_F(OptimisticCommitTest, AnEndedInstanceStaysEnded) {
  const Snapshot a = started("a");
  Unit ending = unit_of(sample::next(a));
  sample::end(ending.advances[0]);
  ASSERT_EQ(commit(*theirs_, {ending}), std::vector{Kind::done});
  Advance beyond = sample::next(ending.advances[0].after);
  EXPECT_EQ(commit(*ours_, {unit_of(beyond)}), std::vector{Kind::failed});
  EXPECT_EQ(version_of("a"), 2u);
}

TEST_F(OptimisticCommitTest, AKeptSignalIsClaimedByTheWaitItIsFor) {
  const Snapshot a = started("a");
  ASSERT_TRUE(theirs_->record_signal(sample::signal("s", "late", Json("x"))).value().kept);
  Unit waiting = unit_of(sample::next(a));
  sample::add_signal_wait(waiting.advances[0], "w", "late", Json("x"));
  EXPECT_EQ(commit(*ours_, {waiting}), std::vector{Kind::done});
  const auto messages = theirs_->list_messages({"a"});
  ASSERT_TRUE(messages.has_value());
  EXPECT_EQ(messages->size(), 1u);
}

TEST_F(OptimisticCommitTest, TheAuditTrailIsOneChainOfAllNodes) {
  const auto audited = [](Advance advance, const std::string& who) {
    Unit unit = unit_of(std::move(advance));
    AuditRow row;
    row.at = sample::start_of_time;
    row.who = who;
    row.what = "instance.start";
    row.resource = unit.advances[0].after.instance.value;
    row.why = "\"größer\" \\ \n\t";
    row.details = Json::object({{"number", 1.5}, {"text", "ü"}});
    unit.audit = {row, row};
    return unit;
  };
  const Snapshot a = started("a"), b = started("b"), c = started("c");
  Listener listener;
  // No start: numbers for new instances are kept for 250 ms only.
  EXPECT_EQ(commit(*ours_, {audited(sample::next(a), "ours"), audited(sample::next(c), "ours")}),
            (std::vector{Kind::done, Kind::done}));
  EXPECT_FALSE(listener.asked());
  EXPECT_EQ(commit(*theirs_, {audited(sample::begin("d"), "theirs")}), std::vector{Kind::done});
  // Of a unit that lost nothing is said.
  EXPECT_EQ(commit(*ours_, {audited(sample::next(a), "ours"), audited(sample::next(b), "ours")}),
            (std::vector{Kind::stale, Kind::done}));
  const auto report = verify_audit(*theirs_);
  ASSERT_TRUE(report.has_value());
  EXPECT_FALSE(report->broken_at) << *report->broken_at << ": " << report->why;
  EXPECT_EQ(report->rows, 8);
  EXPECT_EQ(theirs_->list_audit({100, ""}).value().items.at(4).who, "theirs");
}

TEST_F(OptimisticCommitTest, ATypeThatWasPausedElsewhereIsNotLeased) {
  const Snapshot a = started("a");
  RunTypeRow paused;
  paused.type = "default.echo";
  paused.paused = true;
  ASSERT_TRUE(theirs_->put_run_type(paused).has_value());
  Unit calling = unit_of(sample::next(a));
  sample::add_run(calling.advances[0], "r");
  calling.lease = RunLease{"w", hold, {"default.echo"}};
  const auto outcomes = ours_->commit(std::span(&calling, 1));
  ASSERT_TRUE(outcomes.has_value());
  EXPECT_TRUE(outcomes->front().leased.empty());
  EXPECT_EQ(theirs_->find_run({"r"}).value().value().status, RunStatus::pending);
}

TEST_F(OptimisticCommitTest, ALeaseThatWasLostEndsNothing) {
  const Snapshot a = started("a");
  Unit calling = unit_of(sample::next(a));
  sample::add_run(calling.advances[0], "r");
  calling.lease = RunLease{"w", hold, {"default.echo"}};
  const auto outcomes = ours_->commit(std::span(&calling, 1));
  ASSERT_TRUE(outcomes.has_value());
  ASSERT_EQ(outcomes->front().leased.size(), 1u);
  const RunRow run = outcomes->front().leased.front();
  Unit ending = unit_of(sample::next(calling.advances[0].after));
  ending.run = RunEnd{run.id, run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
  sample::close_wait(ending.advances[0], "token-r");
  {
    RunChange release;
    release.kind = RunChange::Kind::release;
    release.run = run.id;
    release.fence = run.fence;
    release.actor = "w";
    ASSERT_TRUE(theirs_->change_run(release).has_value());
  }
  EXPECT_EQ(commit(*ours_, {ending}), std::vector{Kind::stale});
  EXPECT_EQ(version_of("a"), 2u);
  EXPECT_EQ(theirs_->find_run(run.id).value().value().status, RunStatus::pending);
}

TEST_F(OptimisticCommitTest, TheEndOfALeaseGivenHereIsNotAskedAbout) {
  const Snapshot a = started("a");
  Unit calling = unit_of(sample::next(a));
  sample::add_run(calling.advances[0], "r");
  calling.lease = RunLease{"w", hold, {"default.echo"}};
  const auto outcomes = ours_->commit(std::span(&calling, 1));
  ASSERT_TRUE(outcomes.has_value());
  const RunRow run = outcomes->front().leased.at(0);
  Unit ending = unit_of(sample::next(calling.advances[0].after));
  ending.run = RunEnd{run.id, run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
  sample::close_wait(ending.advances[0], "token-r");
  Listener listener;
  EXPECT_EQ(commit(*ours_, {ending}), std::vector{Kind::done});
  EXPECT_FALSE(listener.asked());
  const auto events = theirs_->run_events(run.id);
  ASSERT_TRUE(events.has_value());
  ASSERT_EQ(events->size(), 3u);
  EXPECT_EQ(events->back().kind, "succeeded");
  EXPECT_EQ(events->back().attempt, 1);
}

// The node knows the number of the successor, and decided about its predecessor.
TEST_F(OptimisticCommitTest, AnIdThatWasGivenAgainIsStale) {
  const Snapshot a = started("a");
  Unit ending = unit_of(sample::next(a));
  sample::end(ending.advances[0]);
  ASSERT_EQ(commit(*theirs_, {ending}), std::vector{Kind::done});
  clock_.advance(Duration::of_seconds(60));
  const auto removed = theirs_->retire_instances({{Status::completed}, clock_.now(), 100});
  ASSERT_TRUE(removed.has_value());
  ASSERT_EQ(removed->instances, 1u);
  Unit again = unit_of(sample::begin("a"));
  again.advances[0].after.started_at = clock_.now();
  sample::add_timer(again.advances[0], "t", clock_.now());
  ASSERT_EQ(commit(*theirs_, {again}), std::vector{Kind::done});
  const auto due = ours_->take_timers(1, hold);
  ASSERT_TRUE(due.has_value());
  ASSERT_EQ(due->size(), 1u);
  EXPECT_EQ(commit(*ours_, {unit_of(sample::next(a))}), std::vector{Kind::stale});
  EXPECT_EQ(version_of("a"), 1u);
  EXPECT_EQ(commit(*ours_, {unit_of(sample::next(again.advances[0].after))}), std::vector{Kind::done});
}

TEST_F(OptimisticCommitTest, ATimerThatFiredElsewhereIsStale) {
  Unit begin = unit_of(sample::begin("a"));
  sample::add_timer(begin.advances[0], "t", sample::start_of_time);
  ASSERT_EQ(commit(*ours_, {begin}), std::vector{Kind::done});
  const auto due = ours_->take_timers(1, hold);
  ASSERT_TRUE(due.has_value());
  ASSERT_EQ(due->size(), 1u);
  const auto firing = [&](const Snapshot& from) {
    Unit unit = unit_of(sample::next(from));
    unit.timer = due->front();
    sample::close_wait(unit.advances[0], "t");
    return unit;
  };
  const Unit first = firing(begin.advances[0].after);
  ASSERT_EQ(commit(*theirs_, {first}), std::vector{Kind::done});
  // Even when it was decided on the newest version: the timer itself is gone.
  EXPECT_EQ(commit(*ours_, {firing(first.advances[0].after)}), std::vector{Kind::stale});
  EXPECT_EQ(version_of("a"), 2u);
}

}  // namespace
}  // namespace cairn
