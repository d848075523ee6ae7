// Tests what an Advance holds besides the next snapshot: effects, refusals and stale events. tests/scenarios tests the
// meaning of the steps.
#include "interpreter/advance.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "definition/definition.h"
#include "interpreter/merge_patch.h"

namespace cairn {
namespace {

constexpr Timestamp monday{1'704'067'200, 0};

class AdvanceTest : public ::testing::Test {
 protected:
  void define(const std::string& rest) {
    const Definition definition = load_definition("cairn: 1\nname: t\nversion: 1.0.0\n" + rest, "t.yaml");
    ASSERT_TRUE(definition.valid()) << format_diagnostic("t.yaml", definition.diagnostics.front());
    program_ = definition.program;
  }
  Event event(EventBody what) {
    Event made;
    made.id.value = "e-" + std::to_string(++events_);
    made.at = monday;
    made.actor = "test";
    made.what = std::move(what);
    return made;
  }
  Advance begin() {
    Started started;
    started.instance.value = "instance-1";
    auto first = start(*program_, setting_, event(started));
    EXPECT_TRUE(first);
    return std::move(*first);
  }
  Advance next(const Snapshot& before, EventBody what) {
    auto advanced = advance(*program_, setting_, before, event(std::move(what)));
    EXPECT_TRUE(advanced) << (advanced ? "" : advanced.error().message);
    return std::move(*advanced);
  }
  static const Wait& wait_of(const Snapshot& snapshot, WaitKind kind) {
    return *std::find_if(snapshot.waits.begin(), snapshot.waits.end(), [&](const Wait& w) { return w.kind == kind; });
  }

  std::shared_ptr<const Program> program_;
  Setting setting_;
  int events_ = 0;
};

TEST_F(AdvanceTest, TheLogNamesEveryStepThatRanAndHowLongWasWaited) {
  define(
      "steps:\n  - { id: a, set: { x: 1 } }\n  - { id: b, set: { x: 2 } }\n  - { id: t, task: { name: T } }\n"
      "  - { id: c, set: { x: 3 } }\n");
  const Advance first = begin();
  ASSERT_EQ(first.log.size(), 2u);
  EXPECT_EQ(first.log[0].kind, LogEntry::Kind::started);
  EXPECT_TRUE(first.log[0].details.is_null());
  EXPECT_EQ(first.log[1].kind, LogEntry::Kind::started);
  EXPECT_EQ(first.log[1].step, "t");
  EXPECT_EQ(first.log[1].details, Json::object({{"ran", Json::array({"a", "b"})}}));

  Event answer = event(TaskCompleted{first.tasks_opened.at(0).id, "ann", Json(), Json()});
  answer.at = {monday.seconds + 90, 0};
  const auto second = advance(*program_, setting_, first.after, answer);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->log.size(), 2u);
  EXPECT_EQ(second->log[0].kind, LogEntry::Kind::completed);
  EXPECT_EQ(second->log[0].step, "t");
  EXPECT_EQ(second->log[0].details, Json::object({{"duration_ms", 90'000}}));
  EXPECT_EQ(second->log[1].step, "") << "the instance itself";
  EXPECT_EQ(second->log[1].details, Json::object({{"ran", Json::array({"c"})}}));
}

TEST_F(AdvanceTest, EntriesOfAVisitAreNamedAlike) {
  define(
      "steps:\n  - id: t\n    task:\n      name: T\n"
      "      deadline: { after: 1h, interrupt: false, steps: [ { id: d, set: { x: 1 } } ] }\n"
      "      on_complete: [ { id: w, wait: 5m } ]\n"
      "  - { id: c, call: { worker: { type: w.v1 } } }\n");
  const Advance first = begin();
  const std::string task = first.tasks_opened.at(0).id.value;
  EXPECT_EQ(first.log.at(1).visit, task) << "the task has a row of its own";
  EXPECT_TRUE(first.log[1].details.is_null());
  // The deadline is another wait of the same visit.
  const Advance late = next(first.after, TimerFired{wait_of(first.after, WaitKind::timer).token, {}});
  const Advance done = next(late.after, TaskCompleted{{task}, "ann", Json(), Json()});
  ASSERT_EQ(done.log.size(), 1u);
  EXPECT_EQ(done.log[0].step, "w");
  const Wait& pause = wait_of(done.after, WaitKind::timer);
  EXPECT_EQ(done.log[0].visit, pause.token.value);
  EXPECT_EQ(done.log[0].details["waits"],
            Json::array({Json::object({{"kind", "timer"}, {"until", format_timestamp(*pause.until)}})}));
  const Advance called = next(done.after, TimerFired{pause.token, {}});
  ASSERT_EQ(called.log.size(), 3u);
  EXPECT_EQ(called.log[0].visit, pause.token.value);
  EXPECT_EQ(called.log[1].step, "t") << "its steps have ended";
  EXPECT_EQ(called.log[1].visit, task);
  EXPECT_EQ(called.log[2].kind, LogEntry::Kind::started);
  EXPECT_EQ(called.log[2].visit, called.runs.at(0).id.value);
  Failure broken;
  broken.code = "boom";
  const Advance failed = next(called.after, RunFinished{called.runs[0].token, Json(), broken, 3});
  ASSERT_EQ(failed.log.size(), 2u);
  EXPECT_EQ(failed.log[0].kind, LogEntry::Kind::faulted);
  EXPECT_EQ(failed.log[0].visit, called.runs[0].id.value);
}

TEST_F(AdvanceTest, TheLogKeepsWhatASignalBrought) {
  define("steps:\n  - { id: s, signal: { name: paid, key: = \"7\", timeout: 1h } }\n");
  const Advance first = begin();
  const Wait& wait = wait_of(first.after, WaitKind::signal);
  EXPECT_EQ(first.log.at(1).visit, wait.token.value);
  EXPECT_EQ(first.log[1].details["waits"].items().at(0),
            Json::object({{"kind", "signal"}, {"name", "paid"}, {"key", "7"}}));
  const Advance second = next(first.after, SignalReceived{"m-1", "paid", Json("7"), Json::object({{"sum", 5}})});
  EXPECT_EQ(second.log.at(0).visit, first.log[1].visit);
  EXPECT_EQ(second.log[0].details["result"], Json::object({{"sum", 5}}));
}

TEST_F(AdvanceTest, AStepThatFailsWithoutWaitingIsNamedByItsPlace) {
  define(
      "state: { zero: 0 }\nsteps:\n  - try: [ { id: a, set: { x: = 1 / state.zero } } ]\n"
      "    finally: [ { id: b, set: { y: 1 } } ]\n");
  std::vector<std::string> visits;
  for (const LogEntry& entry : begin().log) {
    if (entry.kind == LogEntry::Kind::faulted && entry.step == "a") visits.push_back(entry.visit);
  }
  ASSERT_EQ(visits.size(), 2u);
  EXPECT_NE(visits[0].find('['), std::string::npos) << visits[0];
  EXPECT_EQ(visits[1], "") << "`finally` passes the same error on";
}

TEST_F(AdvanceTest, TheLogOfALoopNamesItsFirstStepsAndCountsTheRest) {
  define("steps:\n  - { id: r, repeat: { times: 60, steps: [ { id: s, set: { x: 1 } } ] } }\n");
  const Advance only = begin();
  ASSERT_EQ(only.log.size(), 2u);
  EXPECT_EQ(only.log[1].details["ran"].size(), 50u);
  EXPECT_EQ(only.log[1].details["ran_more"], Json(11)) << "ten more rounds, and the loop itself";
}

TEST_F(AdvanceTest, ACommitThatOnlyRanAStepSaysSo) {
  define("checkpoint: step\nsteps:\n  - { id: a, set: { x: 1 } }\n  - { id: b, set: { x: 2 } }\n");
  const Advance first = begin();
  ASSERT_EQ(first.log.size(), 2u);
  EXPECT_EQ(first.log[1].kind, LogEntry::Kind::completed);
  EXPECT_EQ(first.log[1].step, "a");
}

TEST_F(AdvanceTest, TheLogSaysWhichAttemptSucceeded) {
  define("steps:\n  - { id: c, call: { worker: { type: w.v1 } } }\n");
  const Advance first = begin();
  const Advance second = next(first.after, RunFinished{first.runs[0].token, Json(1), {}, 3});
  ASSERT_FALSE(second.log.empty());
  EXPECT_EQ(second.log[0].kind, LogEntry::Kind::completed);
  EXPECT_EQ(second.log[0].step, "c");
  EXPECT_EQ(second.log[0].attempt, 3);
  EXPECT_EQ(second.log.back().attempt, 1) << "that the instance completed is no attempt of anything";
}

TEST_F(AdvanceTest, TheLogSaysWhoEditedWhat) {
  define("state: { a: 1, b: { c: 1 } }\nsteps:\n  - task: { name: T }\n");
  const Json patch = Json::object({{"a", Json()}, {"b", Json::object({{"x/y", "private"}})}});
  const Advance edited = next(begin().after, StateEdited{patch});
  ASSERT_EQ(edited.log.size(), 1u);
  EXPECT_EQ(edited.log[0].kind, LogEntry::Kind::edited);
  EXPECT_EQ(edited.log[0].actor, "test");
  EXPECT_EQ(edited.log[0].details["changed"], Json::array({Json::object({{"path", "/a"}, {"old", 1}}),
                                                           Json::object({{"path", "/b/x~1y"}, {"new", "private"}})}));
  EXPECT_EQ(log_kind_from(to_string(LogEntry::Kind::edited)), LogEntry::Kind::edited);
}

TEST_F(AdvanceTest, TheLogHasDigestsOfLargeValues) {
  define("state: { a: 1 }\nsteps:\n  - task: { name: T }\n");
  const Advance edited = next(begin().after, StateEdited{Json::object({{"a", std::string(5000, 'x')}}), "why"});
  const Json& change = edited.log[0].details["changed"].items()[0];
  EXPECT_EQ(change["old"], Json(1));
  EXPECT_EQ(change["new_bytes"], Json(5002));
  EXPECT_EQ(change["new_sha256"].as_string().size(), 64u);
  EXPECT_EQ(change.find("new"), nullptr);
  EXPECT_EQ(edited.log[0].details["reason"], Json("why"));
}

TEST_F(AdvanceTest, AnEditBetweenTwoCheckpointsLeavesTheSliceItsTime) {
  define("checkpoint: step\nsteps:\n  - set: { a: = now }\n  - set: { b: = now }\noutput: = state.a == state.b\n");
  const Advance first = begin();
  ASSERT_TRUE(first.unfinished);
  Event later = event(StateEdited{Json::object({{"c", 1}})});
  later.at.seconds += 3600;
  const auto edited = advance(*program_, setting_, first.after, later);
  ASSERT_TRUE(edited && edited->unfinished);
  Event rest = event(Continued{});
  rest.at.seconds += 7200;
  const auto last = advance(*program_, setting_, edited->after, rest);
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(last->after.output, Json(true));
  EXPECT_EQ(last->after.state["c"], Json(1));
}

TEST_F(AdvanceTest, TheSameInputsGiveTheSameAdvance) {
  define("steps:\n  - task: { name: T }\n  - emit: { type: a.b }\n  - call: { worker: { type: w.v1 } }\n");
  Started started;
  started.instance.value = "instance-1";
  const Event first = event(started);
  const auto a = start(*program_, setting_, first);
  const auto b = start(*program_, setting_, first);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a, *b);
  const Event completed = event(TaskCompleted{a->tasks_opened[0].id, "ann", Json(1), {}});
  const auto c = advance(*program_, setting_, a->after, completed);
  const auto d = advance(*program_, setting_, a->after, completed);
  ASSERT_TRUE(c && d);
  EXPECT_EQ(*c, *d);
  EXPECT_EQ(c->outbox.size(), 1u);
  EXPECT_EQ(c->runs.size(), 1u);
}

TEST_F(AdvanceTest, VersionsGrowByOneAndNameTheirEvent) {
  define("steps:\n  - wait: 1h\n");
  const Advance first = begin();
  EXPECT_EQ(first.from_state_version, 0u);
  EXPECT_EQ(first.after.state_version, 1u);
  EXPECT_EQ(first.after.last_event, "e-1");
  const Advance second = next(first.after, TimerFired{first.after.waits[0].token, {}});
  EXPECT_EQ(second.from_state_version, 1u);
  EXPECT_EQ(second.after.state_version, 2u);
  EXPECT_EQ(second.after.status, Status::completed);
  EXPECT_EQ(second.waits_closed, std::vector<WaitToken>{first.after.waits[0].token});
}

TEST_F(AdvanceTest, AWakeUpThatNobodyWaitsForIsStale) {
  define("steps:\n  - wait: 1h\n  - task: { name: T }\n");
  const Advance first = begin();
  const WaitToken timer = first.after.waits[0].token;
  const Advance second = next(first.after, TimerFired{timer, {}});
  for (const auto& what :
       std::vector<EventBody>{TimerFired{timer, {}}, RunFinished{timer, {}, {}}, ChildFinished{timer, {}, {}},
                              TimerFired{second.after.waits[0].token, {}}, TaskCompleted{{"other"}, "ann", {}, {}},
                              TaskExpired{{"other"}, "old"}, Continued{}}) {
    const Advance again = next(second.after, what);
    EXPECT_EQ(again.outcome, Advance::Outcome::stale);
    EXPECT_EQ(again.after, second.after);
  }
}

TEST_F(AdvanceTest, AWaitThatOpensAndClosesInOneSliceIsNobodysBusiness) {
  define(
      "steps:\n  - parallel:\n      join: any\n      branches:\n        a: [ { wait: 1h } ]\n"
      "        b: [ { call: { worker: { type: w.v1 } } } ]\n        c: [ { subworkflow: { name: other } } ]\n"
      "        d: [ { task: { name: T } } ]\n        e: [ { set: { x: 1 } } ]\n");
  const Advance first = begin();
  EXPECT_EQ(first.after.status, Status::completed);
  EXPECT_TRUE(first.waits_opened.empty());
  EXPECT_TRUE(first.waits_closed.empty());
  EXPECT_TRUE(first.runs.empty());
  EXPECT_TRUE(first.runs_cancelled.empty());
  EXPECT_TRUE(first.starts.empty());
  EXPECT_TRUE(first.children_cancelled.empty());
  ASSERT_EQ(first.tasks_opened.size(), 1u);
  ASSERT_EQ(first.tasks_closed.size(), 1u);
  EXPECT_EQ(first.tasks_closed[0].status, TaskStatus::cancelled);
}

TEST_F(AdvanceTest, LosingBranchesCancelRunsAndChildren) {
  define(
      "steps:\n  - parallel:\n      join: any\n      branches:\n        a: [ { wait: 1h } ]\n"
      "        b: [ { call: { worker: { type: w.v1 } } } ]\n        c: [ { subworkflow: { name: other } } ]\n");
  const Advance first = begin();
  ASSERT_EQ(first.runs.size(), 1u);
  ASSERT_EQ(first.starts.size(), 1u);
  const Advance second = next(first.after, TimerFired{wait_of(first.after, WaitKind::timer).token, {}});
  EXPECT_EQ(second.runs_cancelled, std::vector<RunId>{first.runs[0].id});
  EXPECT_EQ(second.children_cancelled, std::vector<InstanceId>{first.starts[0].id});
  EXPECT_EQ(second.waits_closed.size(), 3u);
}

TEST_F(AdvanceTest, AnIdempotencyKeyComesFromPlaceRoundAndVisit) {
  define("steps:\n  - repeat: { times: 2, steps: [ { id: c, call: { worker: { type: w.v1 } } } ] }\n");
  const Advance first = begin();
  const Advance second = next(first.after, RunFinished{first.runs[0].token, Json(1), {}});
  ASSERT_EQ(second.runs.size(), 1u);
  EXPECT_NE(first.runs[0].idempotency_key, second.runs[0].idempotency_key);
  EXPECT_TRUE(first.runs[0].idempotency_key.starts_with("instance-1/steps[0].repeat[0]#0/"));
  EXPECT_TRUE(second.runs[0].idempotency_key.starts_with("instance-1/steps[0].repeat[0]#1/"));
}

// A call that fails again and again inside a `try` with a `finally`. Each retry runs the whole `try` again, from a
// snapshot that was stored.
class RetriedTry : public AdvanceTest {
 protected:
  Advance fail_run(const Advance& before, std::size_t run = 0) {
    Failure down;
    down.code = "down";
    return stored(next(before.after, RunFinished{before.runs.at(run).token, Json(), down}));
  }
  Advance end_run(const Advance& before, std::size_t run = 0) {
    return stored(next(before.after, RunFinished{before.runs.at(run).token, Json(1), {}}));
  }
  Advance retry(const Advance& before, bool new_key = false) {
    EXPECT_EQ(before.after.status, Status::suspended);
    return stored(next(before.after, RetryRequested{new_key, ""}));
  }
  static Advance stored(Advance advance) {
    auto read = decode_snapshot(encode_snapshot(advance.after));
    EXPECT_TRUE(read) << (read ? "" : read.error().message);
    if (read) advance.after = std::move(*read);
    return advance;
  }
  static const std::string& key(const Advance& advance, std::size_t run = 0) {
    return advance.runs.at(run).idempotency_key;
  }
};

TEST_F(RetriedTry, TheFailedCallKeepsItsKeyUnlessANewOneIsWanted) {
  define(
      "steps:\n  - try: [ { call: { worker: { type: w.v1, payload: 7 } } } ]\n"
      "    finally: [ { emit: { type: tried } } ]\n");
  const Advance first = begin();
  const Advance second = retry(fail_run(first));
  EXPECT_EQ(key(second), key(first));
  EXPECT_NE(second.runs[0].id, first.runs[0].id);
  const Advance third = retry(fail_run(second));
  EXPECT_EQ(key(third), key(first));
  const Advance fourth = retry(fail_run(third), true);
  EXPECT_NE(key(fourth), key(first));
  const Advance fifth = retry(fail_run(fourth));
  EXPECT_EQ(key(fifth), key(fourth)) << "the new key is kept from then on";
  EXPECT_EQ(end_run(fifth).after.status, Status::completed);
}

TEST_F(RetriedTry, AlsoThroughATryAroundItAndOutOfABranch) {
  define(
      "steps:\n  - try:\n      - try: [ { parallel: { branches: { a: [ { call: { worker: { type: w.v1 } } } ], b: [ { "
      "wait: 1h } ] "
      "} } } ]\n        finally: [ { emit: { type: inner } } ]\n    finally: [ { emit: { type: outer } } ]\n");
  const Advance first = begin();
  const Advance second = retry(fail_run(first));
  EXPECT_EQ(key(second), key(first));
  EXPECT_EQ(key(retry(fail_run(second))), key(first));
}

TEST_F(RetriedTry, OtherCallsHaveNewKeys) {
  define(
      "steps:\n  - try: [ { call: { worker: { type: before.v1 } } }, { call: { worker: { type: w.v1 } } } ]\n"
      "    finally: [ { emit: { type: tried } } ]\n");
  const Advance first = begin();
  const Advance called = end_run(first);
  const Advance again = retry(fail_run(called));
  EXPECT_NE(key(again), key(first)) << "it had succeeded: this is another call";
  // The one that failed first keeps its key, also if the other one fails meanwhile.
  const Advance once_more = retry(fail_run(again));
  EXPECT_EQ(key(once_more), key(again));
  EXPECT_EQ(key(end_run(once_more)), key(called));
}

TEST_F(RetriedTry, AnotherRequestAtTheSamePlaceHasANewKey) {
  define(
      "state: { left: [ a, b, c ] }\nsteps:\n  - try:\n      - repeat:\n          for_each: = state.left\n          "
      "steps:\n"
      "            - call: { worker: { type: w.v1, payload: = item }, result: done }\n"
      "            - set: { left: '= state.left.filter(x, x != item)' }\n    finally: [ { emit: { type: tried } } ]\n");
  const Advance a = begin();
  const Advance b = end_run(a);
  EXPECT_EQ(b.runs.at(0).payload, Json("b"));
  const Advance b_again = retry(fail_run(b));
  EXPECT_EQ(b_again.runs.at(0).payload, Json("b"));
  const Advance c = end_run(b_again);  // in the round in which b has failed
  EXPECT_EQ(c.runs.at(0).payload, Json("c"));
  EXPECT_NE(key(c), key(b));
  EXPECT_NE(key(c), key(a));
}

TEST_F(RetriedTry, ACompensationIsAnotherCallEachTime) {
  define(
      "steps:\n  - repeat: { times: 2, steps: [ { set: { x: 1 }, compensate: [ { call: { worker: { type: refund.v1 } } "
      "} ] } ] }\n"
      "  - try: [ { undo: {} } ]\n    finally: [ { emit: { type: tried } } ]\n");
  const Advance first = begin();
  const Advance second = retry(fail_run(first));
  EXPECT_NE(key(second), key(first)) << "it is the refund of the other round";
}

TEST_F(RetriedTry, SkipGoesOnAfterIt) {
  define(
      "steps:\n  - try: [ { call: { worker: { type: w.v1 } } } ]\n    finally: [ { emit: { type: tried } } ]\n"
      "  - set: { after: 1 }\noutput: = state.after\n");
  const Advance failed = fail_run(begin());
  const Advance skipped = stored(next(failed.after, SkipRequested{Json(), "done by hand"}));
  EXPECT_EQ(skipped.after.status, Status::completed);
  EXPECT_EQ(skipped.after.output, Json(1));
}

TEST_F(AdvanceTest, ARunCarriesItsPolicy) {
  define(
      "steps:\n  - call: { worker: { type: w.v1, payload: { a: 1 } }, timeout: 5s, "
      "retry: { attempts: 4, backoff: 2s, factor: 3, cap: 1m, jitter: 0 } }\n");
  const Advance first = begin();
  ASSERT_EQ(first.runs.size(), 1u);
  const RunIntent& run = first.runs[0];
  EXPECT_EQ(run.type, "w.v1");
  EXPECT_EQ(run.attempts_max, 4);
  EXPECT_EQ(run.backoff, Duration::of_seconds(2));
  EXPECT_EQ(run.factor, 3);
  EXPECT_EQ(run.cap, Duration::of_seconds(60));
  EXPECT_EQ(run.jitter, 0);
  EXPECT_EQ(run.timeout, Duration::of_seconds(5));
  EXPECT_EQ(run.payload, Json::object({{"a", 1}}));
}

TEST_F(AdvanceTest, TheParentIsToldHowItEnded) {
  define("steps:\n  - task: { name: T }\noutput: done\n");
  Started started;
  started.instance.value = "child-1";
  started.parent = Parent{{"parent-1"}, {"token-1"}};
  const auto first = start(*program_, setting_, event(started));
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->notice);
  const Advance done = next(first->after, TaskCompleted{first->tasks_opened[0].id, "ann", {}, {}});
  ASSERT_TRUE(done.notice);
  EXPECT_EQ(done.notice->parent, *started.parent);
  EXPECT_EQ(done.notice->output, Json("done"));
  const Advance cancelled = next(first->after, CancelRequested{"stop"});
  ASSERT_TRUE(cancelled.notice && cancelled.notice->failure);
  EXPECT_EQ(cancelled.notice->failure->failure_class, FailureClass::business);
  EXPECT_EQ(cancelled.notice->failure->code, "cancelled");
}

TEST_F(AdvanceTest, ARefusedCompletionSaysWhy) {
  define("steps:\n  - task: { name: T, exclude: [bob], form: { type: object } }\n");
  const Advance first = begin();
  const auto excluded = advance(*program_, setting_, first.after,
                                event(TaskCompleted{first.tasks_opened[0].id, "bob", Json::object(), {}}));
  ASSERT_FALSE(excluded);
  EXPECT_EQ(excluded.error().code, ErrorCode::not_allowed);
  const auto unfit =
      advance(*program_, setting_, first.after, event(TaskCompleted{first.tasks_opened[0].id, "ann", Json(1), {}}));
  ASSERT_FALSE(unfit);
  EXPECT_EQ(unfit.error().code, ErrorCode::invalid);
}

TEST_F(AdvanceTest, AnExpressionErrorNamesExpressionAndPlace) {
  for (const char* value : {"= state.x + 1", "{ b: [ 1, { c: = state.x + 1 } ] }"}) {
    define(std::string("steps:\n  - id: s\n    set: { a: ") + value + " }\n");
    const Advance first = begin();
    ASSERT_TRUE(first.after.error);
    EXPECT_NE(first.after.error->message.find("`state.x + 1`"), std::string::npos) << first.after.error->message;
    EXPECT_NE(first.after.error->message.find("steps[0]"), std::string::npos) << first.after.error->message;
    EXPECT_EQ(first.after.error->step, "s");
    EXPECT_EQ(first.after.error->at, "t.yaml:5:5");
  }
}

TEST_F(AdvanceTest, ASnapshotOfAnotherProgramIsCorruptNotACrash) {
  define("steps:\n  - if: \"true\"\n    then: [ { repeat: { times: 2, steps: [ { task: { name: T } } ] } } ]\n");
  const Advance first = begin();
  const Snapshot good = first.after;
  define("steps:\n  - task: { name: T }\n");
  const auto refused = advance(*program_, setting_, good, event(CancelRequested{}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::corrupt);
}

TEST_F(AdvanceTest, OddFrameDataNeverCrashes) {
  define(
      "steps:\n  - try:\n      - repeat: { for_each: \"= [1, 2]\", steps: [ { first: [ { task: { name: T } }, { "
      "signal: { name: s } }, "
      "{ wait: 1h } ] } ] }\n    catch: [ { steps: [] } ]\n");
  const Advance first = begin();
  const std::vector<Json> oddities{Json(),
                                   Json("x"),
                                   Json(-5),
                                   Json::array({1}),
                                   Json::object({{"index", "x"}}),
                                   Json::object({{"options", Json::array({1, "t"})}, {"winner", 99}, {"phase", 3}})};
  for (std::size_t frame = 0; frame < first.after.strands[0].frames.size(); ++frame) {
    for (const Json& odd : oddities) {
      Snapshot damaged = first.after;
      damaged.strands[0].frames[frame].data = odd;
      for (const Wait& wait : damaged.waits) {
        static_cast<void>(advance(*program_, setting_, damaged, event(TimerFired{wait.token, {}})));
        static_cast<void>(
            advance(*program_, setting_, damaged, event(TaskCompleted{{wait.target}, "ann", Json(1), {}})));
      }
      static_cast<void>(advance(*program_, setting_, damaged, event(SignalReceived{"1", "s", {}, Json(1)})));
      static_cast<void>(advance(*program_, setting_, damaged, event(CancelRequested{})));
    }
  }
}

TEST_F(AdvanceTest, ADefinitionIndexKnowsTheNewestVersion) {
  DefinitionIndex index;
  for (const char* version : {"1.9.0", "1.10.0", "2.0.0-rc1", "1.2.0"}) {
    const auto definition = load_definition(
        std::string("cairn: 1\nname: x\nversion: ") + version + "\nsteps: [ { set: { a: 1 } } ]\n", "x.yaml");
    ASSERT_TRUE(definition.valid());
    index.add(definition.program);
  }
  EXPECT_EQ(index.versions("x"), (std::vector<std::string>{"1.2.0", "1.9.0", "1.10.0", "2.0.0-rc1"}));
  EXPECT_EQ(index.find("x", std::nullopt)->version, "2.0.0-rc1");
  EXPECT_EQ(index.find("x", "1.9.0")->version, "1.9.0");
  EXPECT_EQ(index.find("x", "3"), nullptr);
  EXPECT_EQ(index.find("y", std::nullopt), nullptr);
  EXPECT_TRUE(version_before("2.0.0-rc1", "2.0.0"));
  EXPECT_FALSE(version_before("1.0.0", "1.0.0"));
}

TEST(MergePatch, FollowsTheExamplesOfTheStandard) {
  const auto merged = [](const char* target, const char* patch) {
    return write_json(merge_patch(*parse_json(target), *parse_json(patch)));
  };
  EXPECT_EQ(merged(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(merged(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(merged(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(merged(R"({"e":null})", R"({"a":1})"), R"({"a":1,"e":null})");
  EXPECT_EQ(merged(R"([1,2])", R"({"a":"b","c":null})"), R"({"a":"b"})");
  EXPECT_EQ(merged(R"({})", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
}

}  // namespace
}  // namespace cairn
