// Random definitions and random events. In every case an Advance tells the store the truth, nothing depends on staying
// in memory, and equal inputs give equal bytes. Every message contains the seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "definition/definition.h"
#include "interpreter/advance.h"

namespace cairn {
namespace {

// Writes a definition as JSON source, with every kind of step, nested up to four deep.
class RandomDefinition {
 public:
  explicit RandomDefinition(unsigned seed) : random_(seed) {}

  std::string write() {
    static const char* const policies[] = {"suspend", "fail", "compensate"};
    return R"({"cairn":1,"name":"random","version":"1.0.0","state":{"n":0},"on_error":")" +
           std::string(policies[below(3)]) + R"(","checkpoint":")" + (below(4) == 0 ? "step" : "wait") +
           R"(","steps":)" + steps(4, true) + R"(,"output":"= state"})";
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }
  std::string name(const char* prefix) { return prefix + std::to_string(++names_); }

  std::string steps(int depth, bool may_undo) {
    std::string list = "[";
    const unsigned count = 1 + below(3);
    for (unsigned i = 0; i < count; ++i) list += (i > 0 ? "," : "") + step(depth, may_undo);
    return list + "]";
  }

  std::string set() { return R"("set":{"n":"= state.n + 1"})"; }

  std::string task(bool deadline, bool may_undo) {
    std::string text = R"("task":{"name":")" + name("T") + "\"";
    if (below(3) == 0) text += R"(,"remind":["1h","2h"])";
    if (below(3) == 0) text += R"(,"on_complete":[{)" + set() + "}]";
    if (deadline && below(2) == 0) {
      text += R"(,"deadline":{"after":"3h","interrupt":)" + std::string(below(2) == 0 ? "true" : "false") +
              R"(,"steps":)" + steps(1, may_undo) + "}";
    }
    return text + "}";
  }

  std::string step(int depth, bool may_undo) {
    const unsigned kind = below(depth > 0 ? 20 : 9);
    std::string body;
    switch (kind) {
      case 0:
      case 1: body = set(); break;
      case 2: body = task(depth > 0, may_undo); break;
      case 3: body = R"("wait":")" + std::to_string(1 + below(5)) + R"(h")"; break;
      case 4:
        body = R"("signal":{"name":"s)" + std::to_string(below(3)) + R"(","timeout":"4h","on_timeout":[]})";
        break;
      case 5: body = R"("call":{"worker":{"type":"w.v1"},"on_failure":[{)" + set() + "}]}"; break;
      case 6: body = below(6) == 0 ? R"("fail":{"code":"x"})" : R"("emit":{"type":"e.v1"})"; break;
      case 7: body = below(6) == 0 ? R"("set":{"q":"= 1 / state.zero"})" : R"("signal":{"name":"s0"})"; break;
      case 8: body = below(12) == 0 ? R"("complete":{})" : R"("subworkflow":{"name":"other","on_failure":[]})"; break;
      case 9:
      case 10:
        return R"({"if":"state.n % 2 == 0","then":)" + steps(depth - 1, may_undo) + R"(,"else":)" +
               steps(depth - 1, may_undo) + "}";
      case 11:
      case 12:
        return R"({"repeat":{"times":)" + std::to_string(1 + below(3)) + R"(,"steps":)" + steps(depth - 1, may_undo) +
               "}}";
      case 13:
      case 14:
      case 15: {
        const unsigned branches = 1 + below(3);
        std::string text = R"({"parallel":{"join":)";
        text += below(2) == 0 ? "\"all\"" : std::to_string(1 + below(branches));
        text += R"(,"branches":{)";
        for (unsigned i = 0; i < branches; ++i) {
          text += (i > 0 ? ",\"" : "\"") + name("b") + "\":" + steps(depth - 1, may_undo);
        }
        return text + "}}}";
      }
      case 16:
        return R"({"first":[{"signal":{"name":"s1"},"steps":)" + steps(depth - 1, may_undo) + R"(},{"wait":"2h"},{)" +
               task(false, may_undo) + "}]}";
      case 17:
      case 18: {
        std::string text =
            R"({"try":)" + steps(depth - 1, may_undo) + R"(,"catch":[{"steps":)" + steps(depth - 1, may_undo) + "}]";
        if (below(2) == 0) text += R"(,"finally":)" + steps(depth - 1, may_undo);
        return text + "}";
      }
      default: body = may_undo ? R"("undo":{})" : set(); break;
    }
    if (may_undo && kind < 6 && below(3) == 0) body += R"(,"compensate":)" + steps_without_undo();
    return "{" + body + "}";
  }

  // Compensations must not register compensations.
  std::string steps_without_undo() { return steps(0, false); }

  std::mt19937 random_;
  int names_ = 0;
};

// The rows that a store would hold, built only from the advances.
class Ledger {
 public:
  void apply(const Advance& advance, const std::string& context) {
    for (const Wait& wait : advance.waits_opened) EXPECT_TRUE(waits_.emplace(wait.token.value, wait).second) << context;
    for (const WaitToken& token : advance.waits_closed) EXPECT_EQ(waits_.erase(token.value), 1u) << context;
    for (const TaskOpened& task : advance.tasks_opened) EXPECT_TRUE(tasks_.insert(task.id.value).second) << context;
    for (const TaskClosed& task : advance.tasks_closed) EXPECT_EQ(tasks_.erase(task.id.value), 1u) << context;
    for (const RunIntent& run : advance.runs) {
      EXPECT_TRUE(runs_.insert(run.id.value).second) << context;
      EXPECT_TRUE(keys_.insert(run.idempotency_key).second) << context << " repeats " << run.idempotency_key;
    }
    for (const RunId& run : advance.runs_cancelled) EXPECT_EQ(runs_.erase(run.value), 1u) << context;
    for (const InstanceStart& start : advance.starts) EXPECT_TRUE(children_.insert(start.id.value).second) << context;
    for (const InstanceId& child : advance.children_cancelled) EXPECT_EQ(children_.erase(child.value), 1u) << context;
    const Snapshot& after = advance.after;
    EXPECT_EQ(after.waits.size(), waits_.size()) << context;
    std::map<WaitKind, std::size_t> kinds;
    for (const Wait& wait : after.waits) {
      const auto known = waits_.find(wait.token.value);
      ASSERT_NE(known, waits_.end()) << context;
      EXPECT_EQ(known->second, wait) << context;
      ++kinds[wait.kind];
      EXPECT_TRUE(wait.kind != WaitKind::task || tasks_.contains(wait.target)) << context;
      EXPECT_TRUE(wait.kind != WaitKind::run || runs_.contains(wait.target)) << context;
      EXPECT_TRUE(wait.kind != WaitKind::subworkflow || children_.contains(wait.target)) << context;
    }
    EXPECT_EQ(kinds[WaitKind::task], tasks_.size()) << context;
    EXPECT_EQ(kinds[WaitKind::run], runs_.size()) << context;
    EXPECT_EQ(kinds[WaitKind::subworkflow], children_.size()) << context;
    EXPECT_TRUE(!is_final(after.status) || (after.waits.empty() && after.strands.empty())) << context;
    EXPECT_TRUE(after.status != Status::waiting || !after.waits.empty()) << context;
    EXPECT_EQ(advance.unfinished, after.status == Status::running) << context;
  }
  void run_finished(const std::string& run) { runs_.erase(run); }
  void child_finished(const std::string& child) { children_.erase(child); }

 private:
  std::map<std::string, Wait> waits_;
  std::set<std::string> tasks_;
  std::set<std::string> runs_;
  std::set<std::string> keys_;
  std::set<std::string> children_;
};

// A waiting strand is at the step that opened its waits. A strand that neither waits nor can run joins branches.
void check_strands(const Program& program, const Snapshot& snapshot, const std::string& context) {
  for (const Strand& strand : snapshot.strands) {
    const Frame& top = strand.frames.back();
    for (const WaitToken& token : strand.waits) {
      const auto wait = std::find_if(snapshot.waits.begin(), snapshot.waits.end(),
                                     [&](const Wait& open) { return open.token == token; });
      ASSERT_NE(wait, snapshot.waits.end()) << context;
      const StepIndex step = program.places.find_step(top.place);
      ASSERT_NE(step, no_index) << context << ": a strand waits inside " << top.kind << " " << top.place;
      EXPECT_EQ(wait->step, program.steps[step].id) << context;
    }
    const bool ready = std::find(snapshot.ready.begin(), snapshot.ready.end(), strand.id) != snapshot.ready.end();
    EXPECT_TRUE(ready || !strand.waits.empty() || top.kind == "parallel") << context << ": stuck at " << top.place;
  }
}

EventBody random_event(const Snapshot& snapshot, std::mt19937& random) {
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  if (snapshot.status == Status::running) return Continued{};
  if (snapshot.status == Status::suspended) {
    switch (below(4)) {
      case 0:
        return snapshot.error && snapshot.failed_strand != 0 ? EventBody(SkipRequested{Json(1)}) : ResumeRequested{};
      case 1: return StateEdited{Json::object({{"zero", 1}})};
      case 2: return SignalReceived{"x", "s" + std::to_string(below(3)), {}, Json(1)};
      default: return ResumeRequested{};
    }
  }
  if (below(60) == 0) return CancelRequested{"random"};
  if (below(15) == 0) return SuspendRequested{"random"};
  if (below(6) == 0) return SignalReceived{"x", "s" + std::to_string(below(3)), {}, Json(1)};
  const Wait& wait = snapshot.waits[below(static_cast<unsigned>(snapshot.waits.size()))];
  Failure failure;
  failure.failure_class = FailureClass::transport;
  failure.code = "down";
  switch (wait.kind) {
    case WaitKind::task: return TaskCompleted{{wait.target}, "ann", Json(1), {}};
    case WaitKind::timer: return TimerFired{wait.token, {}};
    case WaitKind::signal: return SignalReceived{"x", wait.name, {}, Json(1)};
    case WaitKind::run: return RunFinished{wait.token, Json(1), below(3) == 0 ? std::optional(failure) : std::nullopt};
    case WaitKind::subworkflow: break;
  }
  return ChildFinished{wait.token, Json(1), below(3) == 0 ? std::optional(failure) : std::nullopt};
}

void rehearse(unsigned seed) {
  const std::string context = "seed " + std::to_string(seed);
  const std::string source = RandomDefinition(seed).write();
  const Definition definition = load_definition(source, "");
  ASSERT_TRUE(definition.valid()) << context << ": " << format_diagnostic("", definition.diagnostics.front()) << source;
  std::mt19937 random(seed ^ 0x5EED);
  Setting setting;
  Ledger ledger;
  Event event;
  event.actor = "test";
  event.at = Timestamp{1'704'067'200, 0};
  Started started;
  started.instance.value = "i";
  event.id.value = "e0";
  event.what = started;
  auto advanced = start(*definition.program, setting, event);
  ASSERT_TRUE(advanced) << context;
  for (int round = 1; round < 80; ++round) {
    ledger.apply(*advanced, context + " round " + std::to_string(round) + " " + source);
    check_strands(*definition.program, advanced->after, context + " round " + std::to_string(round) + " " + source);
    if (::testing::Test::HasFailure()) return;
    const std::string bytes = encode_snapshot(advanced->after);
    const auto decoded = decode_snapshot(bytes);
    ASSERT_TRUE(decoded) << context << ": " << decoded.error().message << "\n" << bytes << "\n" << source;
    ASSERT_EQ(encode_snapshot(*decoded), bytes) << context;
    const Snapshot before = advanced->after;
    if (is_final(before.status)) return;
    event.id.value = "e" + std::to_string(round);
    event.at.seconds += 60;
    event.what = random_event(before, random);
    const auto again = advance(*definition.program, setting, *decoded, event);
    advanced = advance(*definition.program, setting, before, event);
    ASSERT_TRUE(advanced) << context << ": " << advanced.error().message << "\n" << source;
    ASSERT_TRUE(again) << context;
    ASSERT_EQ(*again, *advanced) << context << " round " << round;
    for (const Wait& wait : before.waits) {
      const bool open = std::any_of(advanced->after.waits.begin(), advanced->after.waits.end(),
                                    [&](const Wait& w) { return w.token == wait.token; });
      const auto cancelled = [&](const auto& ids) {
        return std::any_of(ids.begin(), ids.end(), [&](const auto& id) { return id.value == wait.target; });
      };
      if (open) continue;
      if (wait.kind == WaitKind::run && !cancelled(advanced->runs_cancelled)) ledger.run_finished(wait.target);
      if (wait.kind == WaitKind::subworkflow && !cancelled(advanced->children_cancelled))
        ledger.child_finished(wait.target);
    }
  }
}

// CAIRN_SEEDS=A..B, as `./dev sim` sets it.
std::pair<unsigned, unsigned> seeds() {
  const char* given = std::getenv("CAIRN_SEEDS");
  unsigned first = 1;
  unsigned last = 400;
  if (given && std::sscanf(given, "%u..%u", &first, &last) != 2) ADD_FAILURE() << "CAIRN_SEEDS is not A..B: " << given;
  return {first, last};
}

TEST(AdvanceProperty, HoldsForRandomDefinitionsAndEvents) {
  const auto [first, last] = seeds();
  std::printf("seeds %u..%u\n", first, last);
  for (unsigned seed = first; seed <= last; ++seed) {
    rehearse(seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace cairn
