#include "workloads/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "workloads/report.h"
#include "workloads/rows.h"
#include "workloads/table_dump.h"

namespace cairn::bench {
namespace {

Plan small() {
  Plan plan;
  plan.folder = testing::TempDir();
  plan.outstanding = {2};
  plan.seconds = 0.01;
  plan.repeats = 1;
  plan.scale = 0.002;
  return plan;
}

TEST(Latencies, ThePercentilesOfOneToAHundred) {
  Latencies latencies;
  for (int i = 100; i >= 1; --i) latencies.add(i);
  latencies.sort();
  EXPECT_EQ(latencies.at(0.5), 51);
  EXPECT_EQ(latencies.at(0.99), 99);
  EXPECT_EQ(latencies.max(), 100);
}

TEST(Workload, SignalsAreCountedWithWhatTheyCost) {
  const auto rows = run_w3(small());
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(rows->front().count, 10U);
  EXPECT_GE(rows->front().cost.syncs, 1U);  // at least one commit was synced, and the shim counted it
  EXPECT_GT(rows->front().cost.log_bytes, 0U);
  EXPECT_LE(rows->front().p50_ms, rows->front().max_ms);
}

TEST(Workload, AStoreIsFilledBeforeOperationsInItAreMeasured) {
  Plan plan = small();
  plan.instances = 400;
  plan.scale = 0.01;
  const auto rows = run_scale(plan);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 9U);
  EXPECT_EQ(rows->front().variant, "start");
  EXPECT_EQ(rows->front().count, 20U);
  for (const Row& row : *rows) EXPECT_EQ(row.extra["instances"].as_integer(), 400) << row.variant;
}

TEST(Workload, TheCallerOfAWorkflowSeesItEnd) {
  const auto rows = run_w2(small());
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->front().outstanding, 2);
}

TEST(Report, ProcessorSecondsProcessByProcess) {
  Row row;
  row.count = 2000;
  row.cost.cpu_s = 3;
  row.cost.cpu_parts = {{"server", 2}, {"client", 1}};
  const Json one = to_json({row}).items()[0];
  EXPECT_EQ(one["cpu_s_per_1000"].as_double(), 1.5);
  EXPECT_EQ(one["cpu_s_per_1000_by_process"]["server"].as_double(), 1);
  std::ostringstream table;
  print_table({row}, table);
  EXPECT_NE(table.str().find("client_cpu_s 0.50"), std::string::npos) << table.str();
}

TEST(Workload, InMemoryNothingIsWritten) {
  Plan plan = small();
  plan.store = "memory";
  const auto rows = run_w3(plan);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->front().cost.written_bytes, 0U);
}

TEST(Workload, TheMedianRunCarriesTheRange) {
  Plan plan = small();
  plan.repeats = 3;
  double rate = 0;
  const auto row = median_of(plan, [&]() -> Result<Row> {
    Row one;
    one.rate = rate += 10;
    return one;
  });
  ASSERT_TRUE(row);
  EXPECT_EQ(row->rate, 20);
  EXPECT_EQ(row->rate_low, 10);
  EXPECT_EQ(row->rate_high, 30);
}

TEST(Workload, AnOperationThatFailsEndsTheRun) {
  const auto row = each_once(5, 2, [](std::size_t) -> Result<void> { return Error{ErrorCode::internal, "no"}; });
  ASSERT_FALSE(row);
  EXPECT_EQ(row.error().message, "no");
}

TEST(Ceiling, IsMeasuredInTurnWithTheWorkload) {
  const auto rows = run_one_wait(small());
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3U) << "with a thread for each, with callbacks, and the ceiling";
  const Row& ours = rows->front();
  const Row& bare = rows->back();
  EXPECT_EQ(bare.workload, "ceiling");
  EXPECT_GE(bare.count, 1U);
  EXPECT_GE(bare.extra["statements_per_workflow"].as_integer(), 6);
  EXPECT_GT(ours.extra["share_of_ceiling"].as_double(), 0);
}

TEST(Ceiling, AChangeIsAnInsertAnUpdateOrARemoval) {
  Dump before;
  before["t"].rows = {{{Value(std::int64_t{1})}, {Value(std::int64_t{1}), Value("a")}},
                      {{Value(std::int64_t{2})}, {Value(std::int64_t{2}), Value("b")}}};
  Dump after = before;
  after["t"].rows.erase({Value(std::int64_t{1})});
  after["t"].rows[{Value(std::int64_t{2})}][1] = Value("c");
  after["t"].rows[{Value(std::int64_t{3})}] = {Value(std::int64_t{3}), Value("d")};
  const auto changes = changes_between(before, after);
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].kind, RowChange::Kind::updated);
  EXPECT_EQ(changes[1].kind, RowChange::Kind::inserted);
  EXPECT_EQ(changes[2].kind, RowChange::Kind::removed);
}

TEST(Report, SaysWhatShareOfTheCeilingWasReached) {
  Row row;
  row.workload = "one-wait";
  row.extra.set("share_of_ceiling", 0.75);
  std::ostringstream table;
  print_table({row}, table);
  EXPECT_NE(table.str().find("75.0 % of the ceiling"), std::string::npos) << table.str();
  EXPECT_EQ(to_json({row}).items()[0]["extra"]["share_of_ceiling"].as_double(), 0.75);
}

}  // namespace
}  // namespace cairn::bench
