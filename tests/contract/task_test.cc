#include "sample.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;
CAIRN_CONTRACT(Tasks);

Advance with_task(const std::string& id, const std::string& task) {
  Advance advance = sample::begin(id);
  sample::add_task(advance, task);
  return advance;
}
TaskChange change(TaskChange::Kind kind, const std::string& task, const std::string& assignee = "") {
  TaskChange change;
  change.kind = kind;
  change.task = {task};
  change.actor = "boss";
  change.assignee = assignee;
  return change;
}
std::vector<TaskEvent::Kind> kinds(const std::vector<TaskEvent>& events) {
  std::vector<TaskEvent::Kind> list;
  for (const TaskEvent& event : events) list.push_back(event.kind);
  return list;
}

TEST_P(Tasks, OpenWithTheirInstance) {
  Advance advance = sample::begin("a");
  advance.after.reference = {Json("R-7"), Json::object()};
  sample::add_task(advance, "t");
  TaskOpened& task = advance.tasks_opened[0];
  task.exclude = {"bob"};
  task.form = Json::object({{"type", "object"}});
  task.priority = 3;
  task.due = sample::start_of_time;
  commit(advance);
  const auto row = must(store().find_task({"t"}));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->instance.value, "a");
  EXPECT_EQ(row->status, TaskStatus::open);
  EXPECT_EQ(row->state_version, 1u);
  EXPECT_EQ(row->roles, std::vector<std::string>{"clerk"});
  EXPECT_EQ(row->exclude, std::vector<std::string>{"bob"});
  EXPECT_EQ(row->payload, Json::object({{"amount", 12}}));
  EXPECT_EQ(row->form, Json::object({{"type", "object"}}));
  EXPECT_EQ(row->priority, 3);
  EXPECT_EQ(row->due, sample::start_of_time);
  EXPECT_EQ(row->reference.key, Json("R-7"));
  EXPECT_EQ(kinds(must(store().task_events({"t"}))), std::vector{TaskEvent::Kind::created});
}

TEST_P(Tasks, MayBeginAssigned) {
  Advance advance = with_task("a", "t");
  advance.tasks_opened[0].assignee = "ann";
  commit(advance);
  EXPECT_EQ(must(store().find_task({"t"}))->status, TaskStatus::assigned);
  EXPECT_EQ(kinds(must(store().task_events({"t"}))),
            (std::vector{TaskEvent::Kind::created, TaskEvent::Kind::assigned}));
}

TEST_P(Tasks, CloseWithTheirInstance) {
  const Advance first = with_task("a", "t");
  commit(first);
  clock_.advance(Duration::of_seconds(1));
  Advance second = sample::next(first.after);
  sample::complete_task(second, "t", "ann");
  commit(second);
  const auto row = must(store().find_task({"t"}));
  EXPECT_EQ(row->status, TaskStatus::completed);
  EXPECT_EQ(row->completed_by, "ann");
  EXPECT_EQ(row->completed_at, store().now());
  EXPECT_EQ(row->completion, Json::object({{"ok", true}}));
  EXPECT_EQ(row->state_version, 2u);
  const auto events = must(store().task_events({"t"}));
  EXPECT_EQ(kinds(events), (std::vector{TaskEvent::Kind::created, TaskEvent::Kind::completed}));
  EXPECT_EQ(events[1].actor, "ann");
}

TEST_P(Tasks, ExpireAndCancel) {
  Advance first = with_task("a", "t");
  sample::add_task(first, "u");
  commit(first);
  Advance second = sample::next(first.after);
  second.tasks_closed = {{{"t"}, TaskStatus::expired, "", Json()}, {{"u"}, TaskStatus::cancelled, "", Json()}};
  commit(second);
  EXPECT_EQ(must(store().find_task({"t"}))->status, TaskStatus::expired);
  EXPECT_EQ(must(store().find_task({"u"}))->status, TaskStatus::cancelled);
  EXPECT_EQ(kinds(must(store().task_events({"u"}))),
            (std::vector{TaskEvent::Kind::created, TaskEvent::Kind::cancelled}));
}

TEST_P(Tasks, AClosedTaskStaysClosed) {
  const Advance first = with_task("a", "t");
  commit(first);
  Advance second = sample::next(first.after);
  sample::complete_task(second, "t");
  commit(second);
  Advance third = sample::next(second.after);
  third.tasks_closed = {{{"t"}, TaskStatus::cancelled, "", Json()}};
  commit(third);
  EXPECT_EQ(must(store().find_task({"t"}))->status, TaskStatus::completed);
  EXPECT_EQ(must(store().task_events({"t"})).size(), 2u);
}

TEST_P(Tasks, AreAssignedAndReleased) {
  commit(with_task("a", "t"));
  TaskChanged changed = must(store().change_task(change(TaskChange::Kind::assign, "t", "ann")));
  EXPECT_EQ(changed.kind, TaskChanged::Kind::done);
  EXPECT_EQ(changed.row.assignee, "ann");
  EXPECT_EQ(changed.row.status, TaskStatus::assigned);
  EXPECT_EQ(changed.row.state_version, 2u);
  changed = must(store().change_task(change(TaskChange::Kind::release, "t")));
  EXPECT_EQ(changed.row.status, TaskStatus::open);
  EXPECT_EQ(changed.row.assignee, "");
  EXPECT_EQ(kinds(must(store().task_events({"t"}))),
            (std::vector{TaskEvent::Kind::created, TaskEvent::Kind::assigned, TaskEvent::Kind::released}));
}

TEST_P(Tasks, AreNotTakenFromSomebody) {
  commit(with_task("a", "t"));
  must(store().change_task(change(TaskChange::Kind::assign, "t", "ann")));
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::assign, "t", "bob"))).kind, TaskChanged::Kind::taken);
  EXPECT_EQ(must(store().find_task({"t"}))->assignee, "ann");
}

TEST_P(Tasks, AssigningTwiceToTheSamePersonIsOnce) {
  commit(with_task("a", "t"));
  must(store().change_task(change(TaskChange::Kind::assign, "t", "ann")));
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::assign, "t", "ann"))).kind, TaskChanged::Kind::done);
  EXPECT_EQ(must(store().task_events({"t"})).size(), 2u);
}

TEST_P(Tasks, AreReassigned) {
  commit(with_task("a", "t"));
  must(store().change_task(change(TaskChange::Kind::assign, "t", "ann")));
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::reassign, "t", "bob"))).row.assignee, "bob");
  const auto events = must(store().task_events({"t"}));
  EXPECT_EQ(events.back().kind, TaskEvent::Kind::reassigned);
  EXPECT_EQ(events.back().details, Json::object({{"assignee", "bob"}}));
}

TEST_P(Tasks, ReleasingAnOpenTaskChangesNothing) {
  commit(with_task("a", "t"));
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::release, "t"))).row.state_version, 1u);
  EXPECT_EQ(must(store().task_events({"t"})).size(), 1u);
}

TEST_P(Tasks, CommentsAreEvents) {
  commit(with_task("a", "t"));
  TaskChange comment = change(TaskChange::Kind::comment, "t");
  comment.comment = "please hurry";
  EXPECT_EQ(must(store().change_task(comment)).kind, TaskChanged::Kind::done);
  EXPECT_EQ(must(store().task_events({"t"})).back().details, Json::object({{"comment", "please hurry"}}));
  EXPECT_EQ(must(store().find_task({"t"}))->state_version, 1u);
}

TEST_P(Tasks, EventsAreListedByPage) {
  commit(with_task("a", "t"));
  TaskChange comment = change(TaskChange::Kind::comment, "t");
  for (int i = 0; i < 4; ++i) {
    comment.comment = std::to_string(i);
    must(store().change_task(comment));
  }
  const auto all = must(store().task_events({"t"}));
  ASSERT_EQ(all.size(), 5u);
  std::vector<TaskEvent> paged;
  for (std::string cursor;;) {
    const auto page = must(store().list_task_events({"t"}, {2, cursor}));
    EXPECT_LE(page.items.size(), 2u);
    paged.insert(paged.end(), page.items.begin(), page.items.end());
    cursor = page.next_cursor;
    if (cursor.empty()) break;
  }
  EXPECT_EQ(kinds(paged), kinds(all));
  EXPECT_EQ(paged.back().details, Json::object({{"comment", "3"}}));
  EXPECT_FALSE(store().list_task_events({"t"}, {2, "x"}).has_value());
}

TEST_P(Tasks, AnOldVersionIsStale) {
  commit(with_task("a", "t"));
  must(store().change_task(change(TaskChange::Kind::assign, "t", "ann")));
  TaskChange late = change(TaskChange::Kind::reassign, "t", "bob");
  late.state_version = 1;
  const TaskChanged changed = must(store().change_task(late));
  EXPECT_EQ(changed.kind, TaskChanged::Kind::stale);
  EXPECT_EQ(changed.row.state_version, 2u);
  EXPECT_EQ(must(store().find_task({"t"}))->assignee, "ann");
}

TEST_P(Tasks, AClosedOneTakesOnlyComments) {
  const Advance first = with_task("a", "t");
  commit(first);
  Advance second = sample::next(first.after);
  sample::complete_task(second, "t");
  commit(second);
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::assign, "t", "ann"))).kind, TaskChanged::Kind::closed);
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::release, "t"))).kind, TaskChanged::Kind::closed);
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::comment, "t"))).kind, TaskChanged::Kind::done);
}

TEST_P(Tasks, UnknownOnesAreNotFound) {
  EXPECT_EQ(must(store().change_task(change(TaskChange::Kind::assign, "t", "ann"))).kind, TaskChanged::Kind::not_found);
  EXPECT_FALSE(must(store().find_task({"t"})).has_value());
  EXPECT_TRUE(must(store().task_events({"t"})).empty());
}

TEST_P(Tasks, ADecisionOnAChangedTaskIsStale) {
  const Advance first = with_task("a", "t");
  commit(first);
  Unit unit;
  unit.advances = {sample::next(first.after)};
  sample::complete_task(unit.advances[0], "t");
  unit.task = Unit::TaskGuard{{"t"}, 1};
  must(store().change_task(change(TaskChange::Kind::assign, "t", "ann")));
  EXPECT_EQ(kind_of_commit(unit), Kind::stale);
  EXPECT_EQ(must(store().find_task({"t"}))->status, TaskStatus::assigned);
  unit.task->state_version = 2;
  EXPECT_EQ(kind_of_commit(unit), Kind::done);
}

TEST_P(Tasks, AreListedByPriorityThenAge) {
  Advance advance = sample::begin("a");
  for (const char* id : {"t1", "t2", "t3"}) sample::add_task(advance, id);
  advance.tasks_opened[1].priority = 5;
  commit(advance);
  const auto page = must(store().list_tasks({}, {}));
  ASSERT_EQ(page.items.size(), 3u);
  EXPECT_EQ(page.items[0].id.value, "t2");
  EXPECT_EQ(page.items[1].id.value, "t1");
  EXPECT_EQ(page.items[2].id.value, "t3");
}

TEST_P(Tasks, HavePages) {
  Advance advance = sample::begin("a");
  for (int i = 0; i < 7; ++i) {
    sample::add_task(advance, "t" + std::to_string(i));
    advance.tasks_opened.back().priority = i % 3;
  }
  commit(advance);
  std::vector<std::string> seen;
  std::string cursor;
  do {
    const auto page = must(store().list_tasks({}, {2, cursor}));
    for (const TaskRow& row : page.items) seen.push_back(row.id.value);
    cursor = page.next_cursor;
  } while (!cursor.empty());
  EXPECT_EQ(seen, (std::vector<std::string>{"t2", "t5", "t1", "t4", "t0", "t3", "t6"}));
}

TEST_P(Tasks, AreFiltered) {
  Advance advance = sample::begin("a");
  sample::add_task(advance, "t1", "Review");
  sample::add_task(advance, "t2", "Sign");
  sample::add_task(advance, "t3", "Review");
  advance.tasks_opened[1].roles = {"boss", "chief"};
  advance.tasks_opened[2].roles = {};
  commit(advance);
  commit(with_task("b", "t4"));
  must(store().change_task(change(TaskChange::Kind::assign, "t1", "ann")));
  const auto ids = [&](const TaskFilter& filter) {
    std::string list;
    for (const TaskRow& row : must(store().list_tasks(filter, {})).items) list += row.id.value + " ";
    return list;
  };
  TaskFilter filter;
  filter.assignee = "ann";
  EXPECT_EQ(ids(filter), "t1 ");
  filter = {};
  filter.roles = {"chief", "nobody"};
  EXPECT_EQ(ids(filter), "t2 t3 ");
  filter = {};
  filter.instance = InstanceId{"b"};
  EXPECT_EQ(ids(filter), "t4 ");
  filter = {};
  filter.name = "Sign";
  EXPECT_EQ(ids(filter), "t2 ");
  filter = {};
  filter.status = TaskStatus::assigned;
  EXPECT_EQ(ids(filter), "t1 ");
}

TEST_P(Tasks, AViewerSeesOnlyWhatTheyHaveARightTo) {
  Advance advance = sample::begin("a");
  for (const char* const id : {"t1", "t2", "t3", "t4"}) sample::add_task(advance, id);
  advance.tasks_opened[1].roles = {"boss"};
  advance.tasks_opened[1].managers = {"lead", "chief"};
  advance.tasks_opened[2].roles = {};
  advance.tasks_opened[3].roles = {"boss"};
  advance.tasks_opened[3].assignee = "ann";
  commit(advance);
  EXPECT_EQ(must(store().find_task({"t2"}))->managers, (std::vector<std::string>{"lead", "chief"}));
  const auto seen = [&](const std::vector<std::string>& roles) {
    std::string together;
    for (const bool of_instance : {false, true}) {
      for (const bool closed : {false, true}) {
        TaskFilter filter;
        filter.viewer_roles = roles;
        filter.closed = closed;
        if (of_instance) filter.instance = InstanceId{"a"};
        std::string list;
        for (const TaskRow& row : must(store().list_tasks(filter, {})).items) list += row.id.value + " ";
        if (together.empty()) together = list;
        EXPECT_EQ(list, together) << of_instance << closed;
      }
    }
    return together;
  };
  EXPECT_EQ(seen({}), "t3 ");
  EXPECT_EQ(seen({"clerk"}), "t1 t3 ");
  EXPECT_EQ(seen({"boss"}), "t2 t3 t4 ");
  EXPECT_EQ(seen({"chief"}), "t2 t3 ");
}

TEST_P(Tasks, ClosedOnesAreListedWhenAskedFor) {
  Advance first = with_task("a", "t");
  sample::add_task(first, "u");
  commit(first);
  Advance second = sample::next(first.after);
  sample::complete_task(second, "t");
  commit(second);
  EXPECT_EQ(must(store().list_tasks({}, {})).items.size(), 1u);
  TaskFilter filter;
  filter.closed = true;
  EXPECT_EQ(must(store().list_tasks(filter, {})).items.size(), 2u);
  filter = {};
  filter.status = TaskStatus::completed;
  EXPECT_EQ(must(store().list_tasks(filter, {})).items.at(0).id.value, "t");
  filter.instance = InstanceId{"a"};
  EXPECT_EQ(must(store().list_tasks(filter, {})).items.size(), 1u);
}

}  // namespace cairn
