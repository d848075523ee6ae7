#include "engine/workflow_counts.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "definition/definition.h"
#include "engine/core.h"
#include "store/memory/memory_store.h"

namespace cairn {
namespace {

using Ended = WorkflowCounts::Ended;
using ByName = WorkflowCounts::ByName;

constexpr const char* parent = R"(
cairn: 1
name: parent
version: 1.0.0
steps: [ { id: both, subworkflow: { name: asks } } ]
)";
constexpr const char* asks = R"(
cairn: 1
name: asks
version: 1.0.0
steps:
  - id: look
    task: { name: Look, deadline: { after: 10m, steps: [] } }
  - id: pause
    wait: 1h
  - id: go
    signal: { name: go, timeout: 2d }
)";
constexpr const char* refuses = R"(
cairn: 1
name: refuses
version: 1.0.0
steps: [ { fail: { code: no, message: no } } ]
)";

class CountsTest : public testing::Test {
 protected:
  void SetUp() override {
    core_ = std::move(*EngineCore::open(store_, {}));
    for (const char* text : {asks, parent, refuses}) {
      const auto loaded = load_definition(text, "test.yaml");
      ASSERT_TRUE(loaded.program);
      ASSERT_TRUE(core_->registry().deploy(loaded.program));
    }
  }
  InstanceId start(const std::string& definition) {
    StartRequest request;
    request.definition = definition;
    auto started = core_->instances().start(request);
    EXPECT_TRUE(started) << started.error().message;
    return started->instance;
  }
  const WorkflowCounts& counts() { return core_->counts(); }
  DurationHistogram waited(WaitKind kind) { return counts().waits()[static_cast<std::size_t>(kind)]; }
  void pass(Duration length) {
    clock_.advance(length);
    core_->due().run_until_idle();
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store_{clock_};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(CountsTest, StartsAndEndsAreCountedByDefinition) {
  start("refuses");
  start("refuses");
  const InstanceId id = start("parent");
  EXPECT_EQ(counts().started(), (ByName{{"asks", 1}, {"parent", 1}, {"refuses", 2}}));
  EXPECT_EQ(counts().ended(), (Ended{{{"refuses", Status::failed}, 2}}));
  ASSERT_TRUE(core_->instances().request(id, CancelRequested{"done"}, {}));
  core_->due().run_until_idle();
  EXPECT_EQ(
      counts().ended(),
      (Ended{{{"asks", Status::cancelled}, 1}, {{"parent", Status::cancelled}, 1}, {{"refuses", Status::failed}, 2}}));
}

TEST_F(CountsTest, AStepIsMeasuredFromItsWaitToWhatEndedIt) {
  start("parent");
  clock_.advance(Duration::of_seconds(30));
  const TaskRow task = store_.list_tasks({}, {})->items.at(0);
  TaskCompletion completion;
  completion.task = task.id;
  completion.actor.name = "ada";
  ASSERT_TRUE(core_->tasks().complete(completion));
  EXPECT_EQ(counts().steps().at({"asks", "look"}).sum_ms, 30'000);
  EXPECT_EQ(waited(WaitKind::task).count, 1u);
  EXPECT_EQ(waited(WaitKind::timer).count, 0u) << "the deadline is no wait of its own";
  pass(Duration::of_seconds(3'605));
  EXPECT_EQ(counts().steps().at({"asks", "pause"}).sum_ms, 3'605'000);
  EXPECT_EQ(waited(WaitKind::timer).count, 1u);
  EXPECT_EQ(counts().timers_late().sum_ms, 5'000);
  pass(Duration::of_seconds(2 * day_seconds));
  EXPECT_EQ(waited(WaitKind::signal).count, 1u) << "the timeout ends the wait for the signal";
  EXPECT_EQ(waited(WaitKind::timer).count, 1u);
  EXPECT_EQ(counts().timers_late().count, 2u);
}

TEST(Counts, TheNumberOfLabelsIsBounded) {
  WorkflowCounts counts;
  for (std::size_t i = 0; i < 2 * workflow_labels_max; ++i) {
    const std::string name = "name-" + std::to_string(i);
    SliceCounts slice;
    slice.instances = {{name, true, Status::completed}};
    slice.waits = {{name, "step", WaitKind::task, Duration::of_seconds(1)}};
    counts.add(slice);
    RunRow again;
    again.type = name;
    again.attempt = 2;
    counts.add_leased({&again, 1});
  }
  EXPECT_EQ(counts.started().size(), workflow_labels_max + 1);
  EXPECT_EQ(counts.started().at("other"), workflow_labels_max);
  EXPECT_EQ(counts.ended().at({"other", Status::completed}), workflow_labels_max);
  EXPECT_EQ(counts.steps().at({"other", "other"}).count, workflow_labels_max);
  EXPECT_EQ(counts.retries().at("other"), workflow_labels_max);
}

TEST(Counts, ARetryIsAnAttemptAfterTheFirst) {
  WorkflowCounts counts;
  std::vector<RunRow> runs(4);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].type = i < 3 ? "card.charge.v1" : "mail.send.v1";
    runs[i].attempt = static_cast<int>(i % 3) + 1;
  }
  counts.add_leased(runs);
  EXPECT_EQ(counts.retries(), (ByName{{"card.charge.v1", 2}}));
}

TEST(Counts, ManyWaitsThatEndTogetherAreAllCounted) {
  Snapshot before;
  Advance advance;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    Wait main;
    main.token = {"w" + std::to_string(i)};
    main.kind = WaitKind::task;
    main.strand = i;
    Wait deadline = main;
    deadline.token = {"t" + std::to_string(i)};
    deadline.kind = WaitKind::timer;
    before.strands.push_back({i, 0, {}, {main.token, deadline.token}});
    for (const Wait& wait : {main, deadline}) {
      before.waits.push_back(wait);
      advance.waits_closed.push_back(wait.token);
    }
  }
  SliceCounts slice;
  slice.add(advance, &before);
  ASSERT_EQ(slice.waits.size(), 100u);
  for (const auto& one : slice.waits) EXPECT_EQ(one.kind, WaitKind::task);
}

TEST(DurationHistograms, HaveABucketForEachLength) {
  DurationHistogram histogram;
  for (const std::int64_t ms : {0, 10, 11, 1'000, 1'001}) histogram.add(Duration::of_ms(ms));
  histogram.add(Duration::of_seconds(31 * day_seconds));
  histogram.add(Duration::of_ms(-5));
  EXPECT_EQ(histogram.buckets, (std::array<std::uint64_t, 12>{3, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(histogram.count, 7u);
  EXPECT_EQ(histogram.sum_ms, 2'022 + 31 * day_seconds * 1'000);
}

}  // namespace
}  // namespace cairn
