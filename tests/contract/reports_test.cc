// The views that people and reporting tools read with SQL.
#include "instance/carried_trace.h"
#include "sample.h"
#include "store_under_test.h"

namespace cairn {
namespace {

using Cells = std::vector<std::vector<std::string>>;

constexpr const char* a_task = "11111111-1111-8111-8111-111111111111";
constexpr const char* a_run = "22222222-2222-8222-8222-222222222222";
constexpr const char* a_child = "33333333-3333-8333-8333-333333333333";

LogEntry entry(LogEntry::Kind kind, const std::string& step, const std::string& visit, int seconds = 0,
               Json details = {}) {
  LogEntry made;
  made.kind = kind;
  made.step = step;
  made.at = Timestamp::of_unix_ms(sample::start_of_time.unix_ms() + 1000 * seconds);
  made.actor = "node";
  made.details = std::move(details);
  made.visit = visit;
  return made;
}

void begin_step(Advance& advance, const std::string& step, const std::string& visit, Json details = {}) {
  advance.log.push_back(entry(LogEntry::Kind::started, step, visit, 0, std::move(details)));
}

class Reports : public StoreContract {
 protected:
  void SetUp() override {
    StoreContract::SetUp();
    if (!has_sql()) GTEST_SKIP() << "the memory store has no SQL";
  }

  // An instance that waits for one of each kind, and its child.
  Advance one_of_each() {
    Advance advance = sample::begin("a");
    advance.after.reference = {Json("R-1"), Json::object()};
    advance.after.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    sample::add_task(advance, a_task);
    advance.tasks_opened[0].deadline = sample::start_of_time;
    begin_step(advance, "review", a_task);
    sample::add_run(advance, a_run);
    advance.runs[0].payload = with_trace(advance.runs[0].payload, advance.after.trace);
    begin_step(advance, "call", a_run);
    sample::add_timer(advance, "t-timer", sample::start_of_time);
    begin_step(advance, "pause", "t-timer",
               Json::object({{"waits", Json::array({Json::object({{"kind", "timer"}})})}}));
    sample::add_signal_wait(advance, "t-signal", "paid", Json("R-1"));
    begin_step(
        advance, "listen", "t-signal",
        Json::object({{"waits", Json::array({Json::object({{"kind", "signal"}, {"name", "paid"}, {"key", "R-1"}})})}}));
    Wait child;
    child.token = {"t-child"};
    child.kind = WaitKind::subworkflow;
    child.step = "child";
    child.name = "sample";
    child.target = a_child;
    sample::open_wait(advance, child);
    begin_step(advance, "child", a_child);
    commit(advance);
    Advance other = sample::begin(a_child);
    other.after.parent = Parent{{"a"}, {"t-child"}};
    other.after.input = Json::object({{"n", 2}});
    commit(other);
    return advance;
  }
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, Reports, testing::ValuesIn(back_ends()),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(Reports, InstancesHaveStateStepReferenceAndVersion) {
  Advance advance = one_of_each();
  const std::string query =
      "SELECT status, correlation_id, state_version, current_step, current_place, input, state, output, trace_id "
      "FROM cairn.wf_instances WHERE id = 'a'";
  EXPECT_EQ(sql(query), (Cells{{"waiting", "R-1", "1", "review", "steps[0]", R"({"n":1})", R"({"step":"begun"})",
                                "NULL", "0af7651916cd43dd8448eb211c80319c"}}));
  Advance last = sample::next(advance.after);
  sample::end(last);
  commit(last);
  EXPECT_EQ(sql(query), (Cells{{"completed", "R-1", "2", "NULL", "NULL", R"({"n":1})", R"({"step":"begun"})",
                                R"({"done":true})", "0af7651916cd43dd8448eb211c80319c"}}));
}

TEST_P(Reports, InstancesNameTheStepThatFailed) {
  Advance advance = sample::begin("a");
  advance.after.status = Status::suspended;
  advance.after.error = Failure{};
  advance.after.error->step = "divide";
  commit(advance);
  EXPECT_EQ(sql("SELECT current_step FROM cairn.wf_instances"), (Cells{{"divide"}}));
}

TEST_P(Reports, RuntimeStatesHaveCopiesOfTheSnapshot) {
  Advance advance = one_of_each();
  EXPECT_EQ(sql("SELECT s.state_version, s.schema_version, s.waiting_kind, s.waiting_token, s.active_task, "
                "s.resume_pointer, s.last_signal, s.last_error_code, s.last_executed_by FROM cairn.wf_runtime_states s "
                "JOIN cairn.wf_instances i ON i.n = s.n WHERE i.id = 'a'"),
            (Cells{{"1", "1", "task", std::string("token-") + a_task, a_task, "steps[0]", "event-a", "NULL", "node"}}));
  Advance failed = sample::next(advance.after);
  failed.after.status = Status::suspended;
  failed.after.error = Failure{};
  failed.after.error->code = "boom";
  commit(failed);
  EXPECT_EQ(sql("SELECT s.last_error_code FROM cairn.wf_runtime_states s "
                "JOIN cairn.wf_instances i ON i.n = s.n WHERE i.id = 'a'")[0][0],
            "boom");
}

TEST_P(Reports, WaitsAreOfEveryKind) {
  Advance advance = one_of_each();
  const std::string query =
      "SELECT instance_id, kind, step, token, CASE WHEN due IS NULL THEN 'never' ELSE 'due' END, name, key, payload "
      "FROM cairn.wf_waits ORDER BY kind";
  EXPECT_EQ(sql(query),
            (Cells{{"a", "run", "call", std::string("token-") + a_run, "never", "default.echo", "NULL", R"({"x":1})"},
                   {"a", "signal", "listen", "t-signal", "never", "paid", "R-1", "NULL"},
                   {"a", "subworkflow", "child", "t-child", "never", "sample", "NULL", R"({"n":2})"},
                   {"a", "task", "review", std::string("token-") + a_task, "due", "Review", "NULL", R"({"amount":12})"},
                   {"a", "timer", "pause", "t-timer", "due", "NULL", "NULL", "NULL"}}));
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_waits w JOIN cairn.wf_instances i ON i.n = w.instance "
                "WHERE w.since = i.started_at AND w.strand = 1"),
            (Cells{{"5"}}));
  Advance second = sample::next(advance.after);
  sample::complete_task(second, a_task);
  commit(second);
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_waits"), (Cells{{"4"}}));
}

TEST_P(Reports, ActivitiesAreTheVisitsOfSteps) {
  Advance advance = one_of_each();
  const std::string query =
      "SELECT step, kind, status, attempt, input, result, last_error, actor, "
      "CASE WHEN completed_at IS NULL THEN 'open' ELSE 'over' END FROM cairn.wf_activities ORDER BY step";
  const std::string listens = R"([{"key":"R-1","kind":"signal","name":"paid"}])";
  EXPECT_EQ(sql(query),
            (Cells{{"call", "call", "waiting", "1", R"({"x":1})", "NULL", "NULL", "node", "open"},
                   {"child", "subworkflow", "waiting", "1", R"({"n":2})", "NULL", "NULL", "node", "open"},
                   {"listen", "signal", "waiting", "1", listens, "NULL", "NULL", "node", "open"},
                   {"pause", "timer", "waiting", "1", R"([{"kind":"timer"}])", "NULL", "NULL", "node", "open"},
                   {"review", "task", "waiting", "1", R"({"amount":12})", "NULL", "NULL", "node", "open"}}));

  Advance second = sample::next(advance.after);
  sample::complete_task(second, a_task);
  sample::close_wait(second, "t-signal");
  second.log = {
      entry(LogEntry::Kind::completed, "review", a_task, 90),
      entry(LogEntry::Kind::completed, "listen", "t-signal", 60,
            Json::object({{"result", Json::object({{"sum", 5}})}})),
      entry(LogEntry::Kind::faulted, "call", a_run, 30, Json::object({{"code", "boom"}, {"message", "it broke"}})),
      entry(LogEntry::Kind::faulted, "divide", "steps[4]", 90,
            Json::object({{"code", "division_by_zero"}, {"message", "1 / 0"}}))};
  second.log[2].attempt = 3;
  commit(second);
  EXPECT_EQ(sql(query),
            (Cells{{"call", "call", "failed", "3", R"({"x":1})", "NULL", "boom: it broke", "node", "over"},
                   {"child", "subworkflow", "waiting", "1", R"({"n":2})", "NULL", "NULL", "node", "open"},
                   {"divide", "NULL", "failed", "1", "NULL", "NULL", "division_by_zero: 1 / 0", "node", "over"},
                   {"listen", "signal", "completed", "1", listens, R"({"sum":5})", "NULL", "node", "over"},
                   {"pause", "timer", "waiting", "1", R"([{"kind":"timer"}])", "NULL", "NULL", "node", "open"},
                   {"review", "task", "completed", "1", R"({"amount":12})", R"({"ok":true})", "NULL", "ann", "over"}}));

  // What the ended instance no longer waits for was cancelled.
  Advance last = sample::next(second.after);
  last.runs_cancelled = {{a_run}};
  sample::end(last);
  commit(last);
  EXPECT_EQ(sql("SELECT step, status FROM cairn.wf_activities WHERE instance_id = 'a' AND step IN ('child', 'pause') "
                "ORDER BY step"),
            (Cells{{"child", "waiting"}, {"pause", "cancelled"}}));
}

TEST_P(Reports, TheTraceThatARunCarriesIsNoInput) {
  Advance advance = sample::begin("a");
  sample::add_run(advance, a_run);
  advance.runs[0].payload = with_trace(Json("text"), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  begin_step(advance, "call", a_run);
  commit(advance);
  EXPECT_EQ(sql("SELECT input FROM cairn.wf_activities"), (Cells{{R"("text")"}}));
  EXPECT_EQ(sql("SELECT payload FROM cairn.wf_waits"), (Cells{{R"("text")"}}));
}

TEST_P(Reports, AnActivityRunsWhileItsLaneRuns) {
  Advance advance = sample::begin("a");
  sample::add_task(advance, a_task);
  begin_step(advance, "review", a_task);
  commit(advance);
  Advance second = sample::next(advance.after);
  sample::complete_task(second, a_task);
  second.after.strands[0].frames.push_back({"task", "steps[0]", Json::object(), a_task});
  commit(second);
  const std::string query = "SELECT status FROM cairn.wf_activities";
  EXPECT_EQ(sql(query), (Cells{{"running"}}));
  Advance third = sample::next(second.after);
  third.after.strands[0].frames.pop_back();
  third.log = {entry(LogEntry::Kind::completed, "review", a_task, 5)};
  commit(third);
  EXPECT_EQ(sql(query), (Cells{{"completed"}}));
}

TEST_P(Reports, ATaskWhoseDeadlineCameIsExpired) {
  Advance advance = sample::begin("a");
  sample::add_task(advance, a_task);
  begin_step(advance, "review", a_task);
  commit(advance);
  Advance second = sample::next(advance.after);
  second.tasks_closed.push_back({{a_task}, TaskStatus::expired, "timer", Json()});
  sample::close_wait(second, std::string("token-") + a_task);
  second.log = {entry(LogEntry::Kind::completed, "review", a_task, 5)};
  commit(second);
  EXPECT_EQ(sql("SELECT status, CASE WHEN completed_at IS NULL THEN 'open' ELSE 'over' END FROM cairn.wf_activities"),
            (Cells{{"expired", "over"}}));
}

TEST_P(Reports, TheLogHasInputDurationAndTrace) {
  Advance advance = one_of_each();
  Advance second = sample::next(advance.after);
  sample::complete_task(second, a_task);
  second.log = {entry(LogEntry::Kind::completed, "review", a_task, 90)};
  commit(second);
  EXPECT_EQ(
      sql("SELECT state_version, kind, step, visit, input, duration_ms, trace_id FROM cairn.wf_execution_log "
          "WHERE instance_id = 'a' AND step IN ('', 'review') ORDER BY n"),
      (Cells{{"1", "started", "", "NULL", R"({"n":1})", "NULL", "0af7651916cd43dd8448eb211c80319c"},
             {"1", "started", "review", a_task, R"({"amount":12})", "NULL", "0af7651916cd43dd8448eb211c80319c"},
             {"2", "completed", "review", a_task, R"({"amount":12})", "90000", "0af7651916cd43dd8448eb211c80319c"}}));
}

TEST_P(Reports, ASnapshotThatCannotBeReadLeavesTheRest) {
  one_of_each();
  sql("UPDATE cairn.wf_runtime_states SET snapshot = '{' WHERE n = (SELECT n FROM cairn.wf_instances WHERE id = 'a')");
  EXPECT_EQ(sql("SELECT id, state_version, state, trace_id FROM cairn.wf_instances ORDER BY id DESC"),
            (Cells{{"a", "1", "NULL", "NULL"}, {a_child, "1", R"({"step":"begun"})", "NULL"}}));
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_waits"), (Cells{{"0"}}));
  EXPECT_EQ(sql("SELECT count(*) FROM cairn.wf_activities"), (Cells{{"5"}}));
}

TEST_P(Reports, RetentionLeavesNothing) {
  Advance advance = sample::begin("a");
  sample::add_task(advance, a_task);
  begin_step(advance, "review", a_task);
  commit(advance);
  Advance last = sample::next(advance.after);
  sample::complete_task(last, a_task);
  sample::end(last);
  commit(last);
  clock_.advance(Duration::of_seconds(60));
  EXPECT_EQ(must(store().retire_instances({{Status::completed}, clock_.now(), 100})).instances, 1u);
  for (const char* view : {"wf_instances", "wf_waits", "wf_execution_log", "wf_activities"}) {
    EXPECT_EQ(sql(std::string("SELECT count(*) FROM cairn.") + view), (Cells{{"0"}})) << view;
  }
}

}  // namespace cairn
