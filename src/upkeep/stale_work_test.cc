// Retention ends open work that nothing has changed for long, and leaves what still moves.
#include "upkeep/stale_work.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "definition/definition.h"
#include "store/audit_chain.h"
#include "store/memory/memory_store.h"
#include "upkeep/retention.h"
#include "upkeep/verify.h"

namespace cairn {
namespace {

std::string definition(const std::string& name, const std::string& steps) {
  return "cairn: 1\nname: " + name + "\nversion: 1.0.0\nsteps:\n" + steps;
}

class StaleWork : public testing::Test {
 protected:
  void SetUp() override {
    auto core = EngineCore::open(store_, {});
    ASSERT_TRUE(core.has_value()) << core.error().message;
    core_ = std::move(*core);
  }
  void start(const std::string& steps, const std::string& id) {
    const Definition loaded = load_definition(definition(id, steps), "test");
    ASSERT_TRUE(loaded.valid()) << format_diagnostic("test", loaded.diagnostics.at(0));
    ASSERT_TRUE(core_->registry().deploy(loaded.program).has_value());
    StartRequest request;
    request.definition = request.id = id;
    const auto started = core_->instances().start(request);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    core_->due().run_until_idle();
  }
  void pass(std::int64_t count) {
    clock_.advance(KeepFor::days(count));
    core_->due().run_until_idle();
  }
  RetentionReport sweep(const RetentionPolicy& policy) {
    const auto report = run_retention(*core_, policy);
    EXPECT_TRUE(report.has_value()) << report.error().message;
    core_->due().run_until_idle();
    const auto verified = verify_store(store_);
    EXPECT_TRUE(verified.has_value());
    for (const Finding& finding : verified->findings) {
      ADD_FAILURE() << finding.invariant << ": " << finding.subject << ": " << finding.message;
    }
    return report ? *report : RetentionReport{};
  }
  RetentionReport sweep_tasks() { return sweep({.stale_tasks = KeepFor::days(30)}); }
  RetentionReport sweep_instances() { return sweep({.stale_instances = KeepFor::days(30)}); }
  Snapshot snapshot(const std::string& id) { return store_.find_snapshot({id})->value(); }
  Status status(const std::string& id) { return snapshot(id).status; }
  TaskRow task_of(const std::string& id) {
    TaskFilter filter;
    filter.instance = InstanceId{id};
    filter.closed = true;
    return store_.list_tasks(filter, {})->items.at(0);
  }
  void comment(const std::string& id) {
    TaskChange change;
    change.kind = TaskChange::Kind::comment;
    change.task = task_of(id).id;
    change.comment = "soon";
    ASSERT_TRUE(core_->tasks().change(change, {"ann", {}}).has_value());
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store_{clock_};
  std::unique_ptr<EngineCore> core_;
};

TEST_F(StaleWork, AStaleTaskFailsItsStepAsTheDefinitionSays) {
  start("  - try: [ { task: { name: Review } } ]\n    catch: [ { steps: [ { set: { why: = error.code } } ] } ]\n", "a");
  pass(30);
  EXPECT_EQ(sweep_tasks().stale_tasks, 0u) << "not older than the period";
  pass(1);
  EXPECT_EQ(sweep_tasks().stale_tasks, 1u);
  EXPECT_EQ(status("a"), Status::completed);
  EXPECT_EQ(snapshot("a").state["why"], Json("task_stale"));
  EXPECT_EQ(task_of("a").status, TaskStatus::expired);
  const auto trail = store_.list_audit({})->items;
  ASSERT_EQ(trail.size(), 1u);
  EXPECT_EQ(trail[0].what, "retention.expireTask");
  EXPECT_EQ(trail[0].resource, "/v1/tasks/" + task_of("a").id.value);
  EXPECT_EQ(trail[0].details["new"].text_or("status", ""), "completed");
  EXPECT_EQ(core_->removed().all().at("stale_tasks"), 1u);
}

TEST_F(StaleWork, WithoutACatchTheInstanceIsAnIncidentThatCanBeRetried) {
  start("  - id: review\n    task: { name: Review }\n", "a");
  pass(31);
  EXPECT_EQ(sweep_tasks().stale_tasks, 1u);
  ASSERT_EQ(status("a"), Status::suspended);
  const Failure error = *snapshot("a").error;
  EXPECT_EQ(error.failure_class, FailureClass::timeout);
  EXPECT_EQ(error.code, "task_stale");
  EXPECT_EQ(error.step, "review");
  EXPECT_EQ(sweep_tasks().stale_tasks, 0u);
  ASSERT_TRUE(core_->instances().request({"a"}, RetryRequested{}, {}).has_value());
  EXPECT_EQ(store_.list_tasks({}, {})->items.size(), 1u) << "a new task";
}

TEST_F(StaleWork, ATaskInFirstEndsTheWholeStep) {
  start(
      "  - try:\n      - first:\n          - { task: { name: Review } }\n"
      "          - { signal: { name: go } }\n"
      "    catch: [ { steps: [ { set: { why: = error.code } } ] } ]\n",
      "a");
  pass(31);
  EXPECT_EQ(sweep_tasks().stale_tasks, 1u);
  EXPECT_EQ(status("a"), Status::completed);
  EXPECT_EQ(snapshot("a").state["why"], Json("task_stale"));
  EXPECT_TRUE(snapshot("a").waits.empty());
}

TEST_F(StaleWork, TasksThatSomethingIsPlannedForStay) {
  start("  - task: { name: T }\n", "touched");
  start("  - task: { name: T, due: 60d }\n", "due");
  start("  - task: { name: T, deadline: { after: 60d, steps: [ { set: { x: 1 } } ] } }\n", "deadline");
  start("  - task: { name: T, remind: [60d] }\n", "reminded");
  start("  - first:\n      - { task: { name: T } }\n      - { wait: 60d }\n", "option");
  start("  - task: { name: T }\n", "suspended");
  ASSERT_TRUE(core_->instances().request({"suspended"}, SuspendRequested{}, {}).has_value());
  pass(20);
  comment("touched");
  pass(20);
  EXPECT_EQ(sweep_tasks().stale_tasks, 0u);
  for (const char* id : {"touched", "due", "deadline", "reminded", "option", "suspended"}) {
    EXPECT_EQ(task_of(id).status, TaskStatus::open) << id;
  }
  pass(31);
  EXPECT_EQ(sweep_tasks().stale_tasks, 3u) << "touched, due and reminded: nothing is ahead any more";
}

TEST_F(StaleWork, AnInstanceWithoutProgressIsCancelled) {
  start("  - signal: { name: go }\n", "a");
  pass(30);
  EXPECT_EQ(sweep_instances().stale_instances, 0u);
  pass(1);
  EXPECT_EQ(sweep({}).stale_instances, 0u) << "only on request";
  EXPECT_EQ(sweep_instances().stale_instances, 1u);
  EXPECT_EQ(status("a"), Status::cancelled);
  EXPECT_EQ(snapshot("a").error->message, "no progress for 30d (keep.stale_instances)");
  const auto trail = store_.list_audit({})->items;
  ASSERT_EQ(trail.size(), 1u);
  EXPECT_EQ(trail[0].what, "retention.cancelInstance");
  EXPECT_EQ(trail[0].why, "no progress for 30d (keep.stale_instances)");
  EXPECT_TRUE(store_.find_instance({"a"})->has_value()) << "it is ended, not removed";
}

TEST_F(StaleWork, AWholeTreeIsCancelledOrNothing) {
  start("  - task: { name: Stay }\n", "leaf");
  ASSERT_TRUE(core_->instances().request({"leaf"}, CancelRequested{}, {}).has_value());
  start("  - subworkflow: { name: leaf }\n", "root");
  InstanceFilter children;
  children.parent = InstanceId{"root"};
  const InstanceId child = store_.list_instances(children, {})->items.at(0).id;
  pass(20);
  comment(child.value);
  pass(20);
  EXPECT_EQ(sweep_instances().stale_instances, 0u) << "a task of the child was touched";
  pass(11);
  EXPECT_EQ(sweep_instances().stale_instances, 1u);
  EXPECT_EQ(status("root"), Status::cancelled);
  EXPECT_EQ(status(child.value), Status::cancelled);
}

TEST_F(StaleWork, InstancesThatStillMoveStay) {
  start("  - wait: 90d\n", "timer");
  start("  - task: { name: T, due: 90d }\n", "due");
  start("  - call: { worker: { type: w.v1 } }\n", "run");
  start("  - call: { worker: { type: forgotten.v1 } }\n", "pending");
  pass(40);
  LeaseRequest request;
  request.worker = "w";
  request.types = {"w.v1"};
  request.length = KeepFor::days(1);
  ASSERT_EQ(store_.lease_runs(request)->size(), 1u);
  EXPECT_EQ(sweep_instances().stale_instances, 1u);
  EXPECT_EQ(status("pending"), Status::cancelled) << "no worker has taken its run";
  for (const char* id : {"timer", "due", "run"}) EXPECT_EQ(status(id), Status::waiting) << id;
}

TEST_F(StaleWork, ASuspendedInstanceIsCancelledToo) {
  start("  - task: { name: T }\n", "a");
  ASSERT_TRUE(core_->instances().request({"a"}, SuspendRequested{}, {}).has_value());
  pass(31);
  EXPECT_EQ(sweep_instances().stale_instances, 1u);
  EXPECT_EQ(status("a"), Status::cancelled);
}

TEST_F(StaleWork, AStopEndsTheSweep) {
  for (const char* id : {"a", "b", "c"}) start("  - signal: { name: go }\n", id);
  pass(31);
  int asked = 0;
  const auto done = cancel_stale_instances(*core_, KeepFor::days(30), [&]() -> Result<bool> { return ++asked < 3; });
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(*done, 2u);
  EXPECT_EQ(status("c"), Status::waiting);
}

}  // namespace
}  // namespace cairn
