// Leasing and ending runs in batches must cost the same for each, whatever the planner knew when it made its plan. It
// once had seen the index of the leased runs empty and walked it for every end, up to 12 s for a batch of a thousand.
// What is read is counted, so that the guard holds however the statements are written.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>

#include "store/open.h"
#include "store/store.h"

namespace cairn {
namespace {

constexpr std::size_t batch = 1000;
constexpr std::size_t finished_before = 20'000;
constexpr std::size_t measured = 4 * batch;
// A hash of everything leased would hide what is wrong: whatever is looked up one by one must be found by its id.
constexpr const char* one_by_one = "%20-c%20enable_hashjoin%3Doff%20-c%20enable_mergejoin%3Doff";
// Some 4 as it is. With the condition that an index answers (`status = 'leased'`) 8 to 13 in this small form, and with
// it a comparison of everything with everything.
constexpr double entries_each_max = 7;

class Plans : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    connection_.reset(PQconnectdb(server_.c_str()));
    schema_ = "plans_" + std::to_string(::getpid());
    sql("SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }
  void TearDown() override {
    if (!server_.empty()) sql("DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }
  std::string sql(const std::string& text) {
    const std::unique_ptr<PGresult, decltype(&PQclear)> result(PQexec(connection_.get(), text.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << PQerrorMessage(connection_.get());
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
  }
  std::unique_ptr<Store> open() {
    auto opened = open_store(
        server_ + "&schema=" + schema_ + "&options=-c%20plan_cache_mode%3D" + GetParam() + one_by_one, clock_);
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : nullptr;
  }
  // Submits that many, then leases and ends them a batch at a time.
  static void work_off(Store& store, std::size_t count) {
    std::vector<RunRow> runs(count);
    for (RunRow& run : runs) {
      run.id = {new_uuid(store.now())};
      run.type = "billing.charge.v1";
      run.payload = Json::object({{"amount", 1}});
    }
    ASSERT_TRUE(store.submit_runs(runs).has_value());
    for (std::size_t ended = 0; ended < count;) {
      const auto leased = store.lease_runs({"w", {"billing."}, {}, batch, Duration::of_seconds(60)});
      ASSERT_TRUE(leased.has_value()) << leased.error().message;
      ASSERT_FALSE(leased->empty());
      std::vector<Unit> units;
      for (const RunRow& run : *leased) {
        Unit unit;
        unit.run = RunEnd{run.id, run.fence, RunStatus::succeeded, Json(true), Json(), "w"};
        units.push_back(std::move(unit));
      }
      const auto outcomes = store.commit(units);
      ASSERT_TRUE(outcomes.has_value()) << outcomes.error().message;
      for (const CommitOutcome& outcome : *outcomes) ASSERT_EQ(outcome.kind, CommitOutcome::Kind::done);
      ended += leased->size();
    }
  }
  // Entries of indexes and rows of tables that were read so far. A connection tells when it ends.
  double read_so_far() {
    sql("SELECT pg_stat_clear_snapshot()");
    return std::stod(sql("SELECT (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = '" + schema_ +
                         "') + (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = '" + schema_ +
                         "')"));
  }

  SystemClock clock_;
  std::string server_;
  std::string schema_;
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_{nullptr, &PQfinish};
};

TEST_P(Plans, EndingABatchReadsNoMoreForEachThanEndingOne) {
  {
    const auto store = open();
    ASSERT_NE(store, nullptr);
    work_off(*store, finished_before);
  }
  // What the planner knows from now on: many runs, none of them leased or pending.
  sql("ANALYZE " + schema_ + ".workflow_run");
  const double before = read_so_far();
  {
    const auto store = open();
    ASSERT_NE(store, nullptr);
    work_off(*store, measured);
  }
  // The server's processes outlive the connections by a moment.
  double each = 0;
  for (int tries = 0; each == 0 && tries < 10'000; ++tries) each = (read_so_far() - before) / measured;
  EXPECT_GT(each, 1);
  EXPECT_LT(each, entries_each_max);
  RecordProperty("entries_read_each", std::to_string(each));
  std::printf("%s: %.1f entries read for each run\n", GetParam(), each);
}

INSTANTIATE_TEST_SUITE_P(Modes, Plans, testing::Values("auto", "force_generic_plan", "force_custom_plan"),
                         [](const auto& mode) { return std::string(mode.param); });

}  // namespace
}  // namespace cairn
