// Two nodes do one operation each, and their statements are interleaved in every order. In every order the answers and
// the contents of the store must equal those of a serial execution.
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <unistd.h>

#include <cstdlib>
#include <random>
#include <set>

#include "base/clock.h"
#include "base/sha256.h"
#include "orchestra.h"
#include "sample.h"
#include "store/open.h"

namespace cairn {
namespace {

constexpr Duration hold = Duration::of_seconds(30);

// What both nodes have read when they decide.
struct World {
  Snapshot a, b;
  DueTimer timer;
  Message message;
  RunRow run;
};

struct Verb {
  const char* name;
  // Returns the node's answer as text.
  std::function<std::string(Store&, const World&, const std::string& node)> act;
};

std::string told(const Result<std::vector<CommitOutcome>>& outcomes) {
  if (!outcomes) return "error: " + outcomes.error().message;
  const CommitOutcome& one = outcomes->front();
  switch (one.kind) {
    case CommitOutcome::Kind::done: return "done";
    case CommitOutcome::Kind::stale: return "stale";
    case CommitOutcome::Kind::duplicate_key: return "duplicate_key " + write_json(one.answer);
    case CommitOutcome::Kind::duplicate_signal: return "duplicate_signal";
    case CommitOutcome::Kind::failed: return "failed: " + one.error.message;
  }
  return "unknown";
}

std::string commit(Store& store, const Unit& unit) { return told(store.commit(std::span(&unit, 1))); }

RunChange change(RunChange::Kind kind, const World& world) {
  RunChange change;
  change.kind = kind;
  change.run = world.run.id;
  change.fence = world.run.fence;
  change.length = hold;
  change.actor = "w";
  change.error = Json::object({{"code", "busy"}});
  return change;
}

std::string told(const Result<RunChanged>& changed) {
  if (!changed) return "error: " + changed.error().message;
  return std::to_string(static_cast<int>(changed->kind)) + " " + to_string(changed->row.status);
}

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> list = {
      {"start",
       [](Store& store, const World&, const std::string& node) {
         Unit unit;
         unit.advances = {sample::begin("new-" + node)};
         unit.key = IdempotencyKey{"start", "k", "h", Json("new-" + node)};
         return commit(store, unit);
       }},
      {"same_id",
       [](Store& store, const World&, const std::string& node) {
         Unit unit;
         unit.advances = {sample::begin("twin")};
         unit.advances[0].after.state = Json::object({{"by", node}});
         return commit(store, unit);
       }},
      {"complete",
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.a)};
         sample::complete_task(unit.advances[0], "t");
         unit.task = Unit::TaskGuard{{"t"}, 1};
         return commit(store, unit);
       }},
      {"signal",
       [](Store& store, const World&, const std::string& node) {
         const auto outcome = store.record_signal(sample::signal("sig-" + node, "late", Json("x")));
         if (!outcome) return "error: " + outcome.error().message;
         return std::string(outcome->kept ? "kept" : "delivered");
       }},
      {"same_signal",
       [](Store& store, const World&, const std::string&) {
         CorrelatedSignal signal = sample::signal("once", "late", Json("x"));
         signal.remember = true;
         const auto outcome = store.record_signal(signal);
         if (!outcome) return "error: " + outcome.error().message;
         return std::string(outcome->duplicate ? "duplicate" : outcome->kept ? "kept" : "delivered");
       }},
      {"wait",  // for the signal above, on another instance
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.b)};
         sample::add_signal_wait(unit.advances[0], "late", "late", Json("x"));
         return commit(store, unit);
       }},
      {"wait_any",
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.b)};
         sample::add_signal_wait(unit.advances[0], "any", "late");
         return commit(store, unit);
       }},
      {"timer",
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.a)};
         unit.timer = world.timer;
         sample::close_wait(unit.advances[0], "timer");
         unit.advances[0].outbox = {sample::event("by-timer", "s")};
         return commit(store, unit);
       }},
      {"message",
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.a)};
         unit.message = world.message.id;
         unit.inbox = Unit::Inbox{{"a"}, "sig"};
         sample::close_wait(unit.advances[0], "listen");
         return commit(store, unit);
       }},
      {"cancel",
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.a)};
         Advance& advance = unit.advances[0];
         advance.tasks_closed = {{{"t"}, TaskStatus::cancelled, "", Json()}};
         advance.runs_cancelled = {{"r"}, {"r2"}};
         sample::end(advance, Status::cancelled);
         return commit(store, unit);
       }},
      {"retry", [](Store& store, const World& world,
                   const std::string&) { return told(store.change_run(change(RunChange::Kind::retry, world))); }},
      {"lease",
       [](Store& store, const World&, const std::string&) {
         const auto leased = store.lease_runs({"w2", {}, {}, 5, hold});
         if (!leased) return "error: " + leased.error().message;
         std::string ids = "leased";
         for (const RunRow& run : *leased) ids += " " + run.id.value;
         return ids;
       }},
      {"heartbeat",
       [](Store& store, const World& world, const std::string&) {
         return told(store.change_run(change(RunChange::Kind::heartbeat, world)));
       }},
      {"finish",
       [](Store& store, const World& world, const std::string&) {
         Unit unit;
         unit.advances = {sample::next(world.a)};
         unit.run = RunEnd{world.run.id, world.run.fence, RunStatus::succeeded, Json(1), Json(), "w"};
         sample::close_wait(unit.advances[0], "token-r");
         return commit(store, unit);
       }},
      {"claim",
       [](Store& store, const World&, const std::string&) {
         const SinkFilter sink{"web"};
         const auto rows = store.claim_outbox({&sink, 1}, {sink.name, 10, hold});
         if (!rows) return "error: " + rows.error().message;
         std::string ids = "claimed";
         for (const OutboxRow& row : *rows) ids += " " + row.event.id.value;
         return ids;
       }},
      {"retention",
       [](Store& store, const World&, const std::string&) {
         const auto outcome = store.retire_instances(
             {{Status::completed, Status::cancelled}, Timestamp::of_unix_ms(1'700'000'100'000), 10});
         return outcome ? "retired " + std::to_string(outcome->instances) : "error: " + outcome.error().message;
       }},
      {"deploy",
       [](Store& store, const World&, const std::string& node) {
         DefinitionRow row;
         row.name = "sample";
         row.version = "9";
         row.digest = node;
         row.canonical = Json::object();
         const auto put = store.put_definition(row);
         return put ? std::to_string(static_cast<int>(*put)) : "error: " + put.error().message;
       }},
  };
  return list;
}

// By value: a loop over it keeps it alive.
template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result ? std::move(*result) : T{};
}

class Interleave : public testing::Test {
 protected:
  void SetUp() override {
    const char* given = std::getenv("CAIRN_TEST_POSTGRES");
    if (!given) GTEST_SKIP() << "CAIRN_TEST_POSTGRES names no server";
    server_ = given;
    schema_ = "interleave_" + std::to_string(::getpid());
    url_ = server_ + "&clock=process&connections=4&schema=" + schema_;
    for (auto& store : stores_) {
      auto opened = open_store(url_, clock_);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      store = std::move(*opened);
    }
  }
  void TearDown() override {
    for (auto& store : stores_) store.reset();
    if (!server_.empty()) sql("SET client_min_messages = error; DROP SCHEMA IF EXISTS " + schema_ + " CASCADE");
  }

  void sql(const std::string& text) {
    if (!connection_) connection_.reset(PQconnectdb(server_.c_str()));
    PGresult* result = PQexec(connection_.get(), text.c_str());
    ASSERT_EQ(PQresultStatus(result), PGRES_COMMAND_OK) << PQerrorMessage(connection_.get());
    PQclear(result);
  }

  World make() {
    sql("DO $$ DECLARE t text; BEGIN FOR t IN SELECT tablename FROM pg_tables WHERE schemaname = '" + schema_ +
        "' AND tablename NOT IN ('wf_schema', 'wf_writers') LOOP EXECUTE 'DELETE FROM " + schema_ +
        ".' || t; END LOOP; END $$");
    Store& store = *stores_[0];
    Advance a = sample::begin("a");
    sample::add_task(a, "t");
    sample::add_timer(a, "timer", sample::start_of_time);
    sample::add_signal_wait(a, "listen", "go");
    sample::add_run(a, "r");
    a.outbox = {sample::event("e1", "s")};
    std::vector<Unit> units(3);
    units[0].advances = {a};
    units[1].advances = {sample::begin("b")};
    units[2].advances = {sample::begin("old")};
    sample::end(units[2].advances[0]);
    EXPECT_TRUE(store.commit(units).has_value());
    EXPECT_TRUE(store.record_signal(sample::signal("sig", "go")).has_value());
    // Both have had them in hand, so that neither need ask before it writes.
    std::vector<Unit> touched(2);
    touched[0].advances = {sample::next(a.after)};
    touched[1].advances = {sample::next(units[1].advances[0].after)};
    EXPECT_TRUE(stores_[1]->commit(touched).has_value());
    World world;
    world.a = touched[0].advances[0].after;
    world.b = touched[1].advances[0].after;
    world.timer = must(store.take_timers(1, hold)).at(0);
    world.message = must(store.take_messages(1, hold)).at(0);
    store.give_back(world.timer);
    store.give_back_message(world.message.id);
    world.run = must(stores_[leases_++ % 2]->lease_runs({"w", {}, {}, 1, hold})).at(0);
    RunRow second = sample::run("r2");
    EXPECT_TRUE(store.submit_run(second).has_value());
    return world;
  }

  // Everything that a reader can see, except what differs between any two runs.
  std::string visible() {
    Store& store = *stores_[0];
    std::string text;
    InstanceFilter all;
    all.deleted = true;
    std::set<std::string> lines;
    for (const InstanceRow& row : must(store.list_instances(all, {})).items) {
      const auto snapshot = store.find_snapshot(row.id);
      std::string line = row.id.value + " " + to_string(row.status) + " " +
                         (snapshot && *snapshot ? sha256_hex(encode_snapshot(**snapshot)) : "none");
      for (const Wait& wait : must(store.list_waits(row.id))) line += " w:" + wait.token.value;
      for (const DueTimer& timer : must(store.list_timers(row.id))) line += " t:" + timer.token.value;
      for (const Message& message : must(store.list_messages(row.id))) {
        line += std::string(" m:") + to_string(message.kind) + std::string(message.body.text_or("id", ""));
      }
      line += " h:" + std::to_string(must(store.history(row.id, {})).items.size());
      lines.insert(line);
    }
    TaskFilter tasks;
    tasks.closed = true;
    for (const TaskRow& task : must(store.list_tasks(tasks, {})).items) {
      std::string line =
          "task " + task.id.value + " " + to_string(task.status) + " " + std::to_string(task.state_version);
      for (const TaskEvent& event : must(store.task_events(task.id))) line += std::string(" ") + to_string(event.kind);
      lines.insert(line);
    }
    for (const RunRow& run : must(store.list_runs({}, {})).items) {
      std::string line = "run " + run.id.value + " " + to_string(run.status) + " " + std::to_string(run.leases) + " " +
                         std::to_string(run.attempt) + " " + run.leased_by;
      for (const RunEvent& event : must(store.run_events(run.id))) line += " " + event.kind;
      lines.insert(line);
    }
    EXPECT_TRUE(must(store.queue_faults(1)).empty());
    for (const OutboxRow& row : must(store.list_outbox({}, {})).items) lines.insert("event " + row.event.id.value);
    for (const DeadLetter& letter : must(store.list_dead_letters({})).items) lines.insert("dead " + letter.reason);
    if (const auto key = store.find_key("start", "k"); key && *key) lines.insert("key " + write_json((*key)->answer));
    if (const auto row = store.find_definition("sample", std::string("9")); row && *row) lines.insert((*row)->digest);
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  std::string outcome(Orchestra& orchestra, const Verb& first, const Verb& second, const std::vector<bool>& order,
                      std::vector<bool>* played = nullptr) {
    const World world = make();
    std::string left, right;
    auto turns = orchestra.play([&] { left = first.act(*stores_[0], world, "A"); },
                                [&] { right = second.act(*stores_[1], world, "B"); }, order);
    if (played) *played = std::move(turns);
    return "A " + left + "\nB " + right + "\n" + visible();
  }

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  ManualClock clock_{sample::start_of_time};
  std::string server_, schema_, url_;
  std::unique_ptr<Store> stores_[2];
  std::size_t leases_ = 0;
  std::unique_ptr<PGconn, Finish> connection_;
};

TEST_F(Interleave, EveryOrderIsOneAfterTheOther) {
  // The number of orders for every pair; if unset, one order for some pairs.
  const char* given = std::getenv("CAIRN_INTERLEAVINGS");
  const std::size_t each = given ? std::strtoul(given, nullptr, 10) : 1;
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  Orchestra orchestra(server_);
  std::size_t pairs = 0, count = 0;
  for (std::size_t i = 0; i < verbs().size(); ++i) {
    for (std::size_t j = i; j < verbs().size(); ++j) {
      if (!given && random() % 5 != 0) continue;
      const Verb& first = verbs()[i];
      const Verb& second = verbs()[j];
      SCOPED_TRACE(std::string(first.name) + " and " + second.name);
      const std::vector<bool> a_first(64, false), b_first(64, true);
      std::vector<bool> played;
      const std::set<std::string> serial{outcome(orchestra, first, second, a_first, &played),
                                         outcome(orchestra, first, second, b_first)};
      ++pairs;
      for (std::size_t n = 0; n < each; ++n) {
        std::vector<bool> order(played.size());
        for (std::size_t turn = 0; turn < order.size(); ++turn) order[turn] = random() % 2 == 0;
        std::vector<bool> real;
        const std::string found = outcome(orchestra, first, second, order, &real);
        ++count;
        if (serial.contains(found)) continue;
        std::string turns;
        for (const bool turn : real) turns += turn ? 'B' : 'A';
        ADD_FAILURE() << "played " << turns << " gave\n"
                      << found << "which is neither\n"
                      << *serial.begin() << "nor\n"
                      << *serial.rbegin();
      }
    }
  }
  std::printf("%zu pairs, %zu interleavings, seed %u\n", pairs, count, seed);
}

}  // namespace
}  // namespace cairn
