// Tasks through the embedding interface: permissions, times and repeated requests.
#include "node/engine_fixture_test.h"

#include <map>

namespace cairn::node {

TEST_P(EngineOnAStore, TheWrongPersonMayNotComplete) {
  deploy(review);
  start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  const TaskId task = only_task();
  EXPECT_EQ(engine_->complete(task, approval, {"bob", std::vector<std::string>{"guest"}}).error().code,
            ErrorCode::not_allowed);
  EXPECT_EQ(engine_->complete(task, approval, {"mallory", std::vector<std::string>{"clerk"}}).error().code,
            ErrorCode::not_allowed);
  EXPECT_EQ(engine_->complete(task, Json::object(), ann).error().code, ErrorCode::invalid);
  EXPECT_TRUE(engine_->complete(task, approval, ann).has_value());
}

TEST_P(EngineOnAStore, ASecondCompletionConflictsUnlessItIsTheSameRequest) {
  deploy(review);
  start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  const TaskId task = only_task();
  const auto first = engine_->complete(task, approval, ann, "key");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  restart();
  const auto again = engine_->complete(task, approval, ann, "key");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_TRUE(again->repeated);
  EXPECT_EQ(again->state_version, first->state_version);
  EXPECT_EQ(again->status, first->status);
  EXPECT_EQ(again->output, first->output) << "it answers as the first one did";
  EXPECT_FALSE(first->output.is_null());
  EXPECT_EQ(engine_->complete(task, approval, ann).error().code, ErrorCode::conflict);
  EXPECT_EQ(engine_->complete(task, Json::object({{"ok", false}}), ann, "key").error().code, ErrorCode::conflict);
}

TEST_P(EngineOnAStore, TasksAreAssignedAndReleased) {
  deploy(review);
  start("review", Json::object({{"amount", 7}, {"no", "R-1"}}));
  const TaskId task = only_task();
  EngineCore& core = engine_->core();
  TaskChange change;
  change.kind = TaskChange::Kind::assign;
  change.task = task;
  change.assignee = "mallory";
  EXPECT_EQ(core.tasks().change(change, {}).error().code, ErrorCode::not_allowed);
  change.assignee = "bob";
  EXPECT_TRUE(core.tasks().change(change, {}).has_value());
  EXPECT_EQ(engine_->complete(task, approval, ann).error().code, ErrorCode::not_allowed) << "it is bob's";
  change.kind = TaskChange::Kind::release;
  EXPECT_TRUE(core.tasks().change(change, {}).has_value());
  EXPECT_TRUE(engine_->complete(task, approval, ann).has_value());
}

TEST_P(EngineOnAStore, ExclusionIsCheckedWithTheCurrentStateWhenATaskIsTaken) {
  deploy(R"(
cairn: 1
name: eyes
version: 1.0.0
state: { maker: nobody }
steps:
  - parallel:
      branches:
        make: [ { task: { name: Make, on_complete: [ { set: { maker: = task.completed_by } } ] } } ]
        check: [ { task: { name: Check, exclude: '= [state.maker]' } } ]
        sign: [ { task: { name: Sign, four_eyes: [Make] } } ]
)");
  start("eyes");
  std::map<std::string, TaskId> tasks;
  const auto open = engine_->tasks();
  for (const OpenTaskView& task : *open) tasks[task.name] = task.id;
  const auto assign = [&](const std::string& task, const std::string& to) {
    TaskChange change;
    change.kind = TaskChange::Kind::assign;
    change.task = tasks.at(task);
    change.assignee = to;
    const auto changed = engine_->core().tasks().change(change, {});
    return changed ? std::string("done") : changed.error().message;
  };
  const auto release = [&](const std::string& task) {
    TaskChange change;
    change.kind = TaskChange::Kind::release;
    change.task = tasks.at(task);
    return engine_->core().tasks().change(change, {}).has_value();
  };
  EXPECT_EQ(assign("Check", "ann"), "done");
  ASSERT_TRUE(release("Check"));
  ASSERT_TRUE(engine_->complete(tasks.at("Make"), Json::object(), ann).has_value());
  restart();
  for (const char* const task : {"Check", "Sign"}) {
    EXPECT_NE(assign(task, "ann").find("exclude"), std::string::npos) << task;
    EXPECT_EQ(engine_->complete(tasks.at(task), Json::object(), ann).error().code, ErrorCode::not_allowed) << task;
    EXPECT_EQ(assign(task, "bob"), "done");
    EXPECT_TRUE(engine_->complete(tasks.at(task), Json::object(), {"bob", {}}).has_value());
  }
}

TEST_P(EngineOnAStore, DeadlinesAndRemindersKnowWhoHasTheTask) {
  deploy(R"(
cairn: 1
name: nudging
version: 1.0.0
steps:
  - task: { name: T, remind: [10m], deadline: { after: 1h, interrupt: false, steps: [ { set: { beside: = task.assignee } } ] } }
  - first:
      - task: { name: U, remind: [10m] }
      - task: { name: V }
  - task: { name: W, deadline: { after: 1h, steps: [ { set: { expired: = task.assignee } } ] } }
output: = state
)");
  const InstanceId id = start("nudging").instance;
  const auto assign = [&](const std::string& name, const std::string& person) {
    const auto tasks = engine_->tasks();
    ASSERT_TRUE(tasks.has_value());
    for (const OpenTaskView& task : *tasks) {
      if (task.name != name) continue;
      TaskChange change;
      change.task = task.id;
      change.assignee = person;
      ASSERT_TRUE(engine_->core().tasks().change(change, {}).has_value());
    }
  };
  const auto complete = [&](const std::string& name, const std::string& person) {
    const auto tasks = engine_->tasks();
    ASSERT_TRUE(tasks.has_value());
    for (const OpenTaskView& task : *tasks) {
      if (task.name != name) continue;
      ASSERT_TRUE(engine_->complete(task.id, Json(), {person, {}}).has_value());
    }
  };
  assign("T", "ann");
  pass(Duration::of_seconds(3600));
  complete("T", "ann");
  assign("U", "bob");
  assign("V", "eve");
  pass(Duration::of_seconds(600));
  complete("V", "eve");
  assign("W", "cid");
  pass(Duration::of_seconds(3600));
  EXPECT_EQ(now(id).output, Json::object({{"beside", "ann"}, {"expired", "cid"}}));
  std::vector<std::string> reminded;
  const auto outbox = engine_->store().list_outbox({}, {100, ""});
  ASSERT_TRUE(outbox.has_value());
  for (const OutboxRow& row : outbox->items) {
    reminded.emplace_back(row.event.data["task"].text_or("assignee", ""));
  }
  EXPECT_EQ(reminded, (std::vector<std::string>{"ann", "bob"}));
}

}  // namespace cairn::node
