// Each order of two operations that were decided on the same state version. The first is written; the second is stale
// and leaves no trace. Decided again on the new state version, it finds its cause gone or continues.
#include "sample.h"
#include "store_under_test.h"

namespace cairn {

using Kind = CommitOutcome::Kind;

namespace {

enum class Verb { complete, fire, deliver, finish_run, cancel, suspend };

const char* name_of_verb(Verb verb) {
  switch (verb) {
    case Verb::complete: return "Complete";
    case Verb::fire: return "Fire";
    case Verb::deliver: return "Deliver";
    case Verb::finish_run: return "FinishRun";
    case Verb::cancel: return "Cancel";
    case Verb::suspend: return "Suspend";
  }
  return "unknown";
}

// What both parties have read when they decide.
struct World {
  Snapshot snapshot;
  DueTimer timer;
  Message message;
  RunRow run;
};

Unit decide(Verb verb, const World& world) {
  Unit unit;
  unit.advances = {sample::next(world.snapshot)};
  Advance& advance = unit.advances[0];
  advance.outbox = {sample::event(std::string("by-") + name_of_verb(verb), "s")};
  switch (verb) {
    case Verb::complete:
      sample::complete_task(advance, "t");
      unit.task = Unit::TaskGuard{{"t"}, 1};
      break;
    case Verb::fire:
      unit.timer = world.timer;
      sample::close_wait(advance, "timer");
      break;
    case Verb::deliver:
      unit.message = world.message.id;
      unit.inbox = Unit::Inbox{{"a"}, "sig"};
      sample::close_wait(advance, "listen");
      break;
    case Verb::finish_run:
      unit.run = RunEnd{world.run.id, world.run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
      sample::close_wait(advance, "token-r");
      break;
    case Verb::cancel:
      advance.tasks_closed = {{{"t"}, TaskStatus::cancelled, "", Json()}};
      advance.runs_cancelled = {{"r"}};
      sample::end(advance, Status::cancelled);
      break;
    case Verb::suspend: advance.after.status = Status::suspended; break;
  }
  return unit;
}

}  // namespace

class EveryOrder : public StoreContract {
 protected:
  World make() {
    Advance first = sample::begin("a");
    sample::add_task(first, "t");
    sample::add_timer(first, "timer", sample::start_of_time);
    sample::add_signal_wait(first, "listen", "go");
    sample::add_run(first, "r");
    commit(first);
    must(store().record_signal(sample::signal("sig", "go")));
    World world;
    world.snapshot = *must(store().find_snapshot({"a"}));
    world.timer = must(store().take_timers(1, Duration::of_seconds(30))).at(0);
    world.message = must(store().take_messages(1, Duration::of_seconds(30))).at(0);
    world.run = must(store().lease_runs({"w", {}, {}, 1, Duration::of_seconds(30)})).at(0);
    return world;
  }

  void play(Verb first, Verb second) {
    SCOPED_TRACE(std::string(name_of_verb(first)) + " before " + name_of_verb(second));
    const World world = make();
    ASSERT_EQ(kind_of_commit(decide(first, world)), Kind::done);
    const Snapshot after_first = *must(store().find_snapshot({"a"}));
    const bool repeat = first == Verb::deliver && second == Verb::deliver;
    ASSERT_EQ(kind_of_commit(decide(second, world)), repeat ? Kind::duplicate_signal : Kind::stale);
    EXPECT_EQ(must(store().find_snapshot({"a"})), after_first);
    EXPECT_EQ(claim_events(10, Duration::of_seconds(1)).size(), 1u);

    // Decide again on the current state.
    World again = world;
    again.snapshot = after_first;
    const Kind kind = kind_of_commit(decide(second, again));
    if (first == Verb::cancel) {
      EXPECT_NE(kind, Kind::done);  // a finished instance takes nothing more
    } else if (first == second && first != Verb::suspend) {
      EXPECT_NE(kind, Kind::done);  // its cause is used up
    } else {
      EXPECT_EQ(kind, Kind::done);
    }
    // Whatever happened, state versions have no gap, and a finished instance holds nothing open.
    const Snapshot last = *must(store().find_snapshot({"a"}));
    EXPECT_EQ(last.state_version, kind == Kind::done ? 3u : 2u);
    if (is_final(last.status)) {
      EXPECT_TRUE(must(store().list_waits({"a"})).empty());
      EXPECT_NE(must(store().find_task({"t"}))->status, TaskStatus::open);
      EXPECT_NE(must(store().find_run({"r"}))->status, RunStatus::leased);
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, EveryOrder, testing::ValuesIn(back_ends()),
                         [](const auto& instance) { return name_of(instance.param); });

#define CAIRN_ORDER(first, second) \
  TEST_P(EveryOrder, first##_before_##second) { play(Verb::first, Verb::second); }
#define CAIRN_ORDERS(first)      \
  CAIRN_ORDER(first, complete)   \
  CAIRN_ORDER(first, fire)       \
  CAIRN_ORDER(first, deliver)    \
  CAIRN_ORDER(first, finish_run) \
  CAIRN_ORDER(first, cancel)     \
  CAIRN_ORDER(first, suspend)

CAIRN_ORDERS(complete)
CAIRN_ORDERS(fire)
CAIRN_ORDERS(deliver)
CAIRN_ORDERS(finish_run)
CAIRN_ORDERS(cancel)
CAIRN_ORDERS(suspend)

// The two orders of a signal and the wait it is for.
class SignalAndWait : public StoreContract {};
INSTANTIATE_TEST_SUITE_P(Stores, SignalAndWait, testing::ValuesIn(back_ends()),
                         [](const auto& instance) { return name_of(instance.param); });

TEST_P(SignalAndWait, WhicheverCommitsSecondFindsTheOther) {
  const Advance first = sample::begin("a");
  commit(first);
  Advance opens = sample::next(first.after);
  sample::add_signal_wait(opens, "w", "go", Json("k"));
  must(store().record_signal(sample::signal("early", "go", Json("k"))));
  commit(opens);
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 1u);
  must(store().record_signal(sample::signal("late", "go", Json("k"))));
  EXPECT_EQ(must(store().list_messages({"a"})).size(), 2u);
}

TEST_P(SignalAndWait, ASignalBetweenDecisionAndCommitOfTheWaitIsFound) {
  const Advance first = sample::begin("a");
  commit(first);
  Advance opens = sample::next(first.after);  // decided before the signal came
  sample::add_signal_wait(opens, "w", "go");
  EXPECT_TRUE(must(store().record_signal(sample::signal("s", "go"))).kept);
  EXPECT_EQ(commit(opens).kind, Kind::done);
  EXPECT_EQ(must(store().list_messages({"a"})).at(0).body["id"], Json("s"));
}

}  // namespace cairn
