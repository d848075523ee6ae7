// instruction_guard NAME ROUNDS: runs one operation of the hot path ROUNDS times inside `measured`, for callgrind to
// count. check.sh knows the allowed number of instructions for each.
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/entropy.h"
#include "definition/definition.h"
#include "engine/commit/commit_queue.h"
#include "engine/slice.h"
#include "expr/expression.h"
#include "interpreter/advance.h"
#include "store/open.h"
#include "store/unit.h"

// callgrind collects only below this function (--toggle-collect).
extern "C" [[gnu::noinline]] void measured(const std::function<void()>& once, int rounds) {
  for (int i = 0; i < rounds; ++i) once();
}

namespace {

using namespace cairn;

constexpr const char* definition_text = R"(
cairn: 1
name: loan
version: 1.0.0
state:
  amount: = input.amount
  tier: '= input.amount > 10000 ? "large" : "small"'
steps:
  - if: state.amount > 1000 && input.customer.country in ["DE", "AT", "CH"]
    then:
      - set: { limit: = state.amount * 2 }
  - signal: { name: decided, key: = input.no, result: decision }
  - set: { approved: = state.decision.ok && state.amount <= state.limit }
output: { approved: = state.approved, amount: = state.amount }
)";

struct Scene {
  std::shared_ptr<const Program> program;
  Setting setting;
  Event started;
  Event signalled;
  Snapshot waiting;
};

Event event_of(EventBody what) {
  Event event;
  event.id = {"01900000-0000-7000-8000-000000000001"};
  event.at = Timestamp::of_unix_ms(1'800'000'000'000);
  event.actor = "guard";
  event.what = std::move(what);
  return event;
}

Scene scene() {
  Scene scene;
  const Definition definition = load_definition(definition_text, "guard");
  for (const Diagnostic& diagnostic : definition.diagnostics)
    std::cerr << format_diagnostic("guard", diagnostic) << "\n";
  scene.program = definition.program;
  CAIRN_ASSERT(scene.program != nullptr);
  Started started;
  started.instance = {"01900000-0000-7000-8000-000000000000"};
  started.input = *parse_json(R"({"no": "L-17", "amount": 25000, "customer": {"name": "Anna Example", "country": "DE",
    "address": {"street": "Hauptstr. 5", "city": "Freiburg", "zip": "79098"}},
    "notes": ["called the customer on monday", "waiting for the signed contract", "sent a reminder by mail"]})");
  scene.started = event_of(std::move(started));
  auto begun = start(*scene.program, scene.setting, scene.started);
  CAIRN_ASSERT(begun.has_value());
  scene.waiting = begun->after;
  scene.signalled = event_of(SignalReceived{"s-1", "decided", "L-17", Json::object({{"ok", true}})});
  return scene;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: instruction_guard NAME ROUNDS\n";
    return 2;
  }
  const int rounds = std::atoi(arguments[2]);
  // The same ids in every run, so that maps and texts are the same.
  set_entropy_source([next = std::uint8_t{0}](std::span<std::uint8_t> bytes) mutable {
    for (std::uint8_t& byte : bytes) byte = next++;
  });
  const Scene scene = ::scene();
  const std::string bytes = encode_snapshot(scene.waiting);
  auto compiled =
      expr::compile("state.amount > 1000 && input.customer.country in [\"DE\", \"AT\"] && state.tier == \"large\"",
                    {{{"input", expr::Type::dyn()}, {"state", expr::Type::dyn()}}, false});
  CAIRN_ASSERT(compiled.has_value());
  const expr::Value values[] = {expr::Value::borrow(scene.waiting.input), expr::Value::borrow(scene.waiting.state)};
  SystemClock clock;
  auto store = open_store("memory:", clock);
  CAIRN_ASSERT(store.has_value());
  Registry registry(**store);
  CommitQueue queue(**store, [] {});  // without threads, so that all instructions are counted

  const std::map<std::string, std::function<void()>> guarded = {
      {"advance",
       [&] { CAIRN_ASSERT(advance(*scene.program, scene.setting, scene.waiting, scene.signalled).has_value()); }},
      {"start", [&] { CAIRN_ASSERT(start(*scene.program, scene.setting, scene.started).has_value()); }},
      {"expression", [&] { CAIRN_ASSERT(compiled->evaluate(values, {}).has_value()); }},
      {"snapshot_encode", [&] { CAIRN_ASSERT(!encode_snapshot(scene.waiting).empty()); }},
      {"snapshot_decode", [&] { CAIRN_ASSERT(decode_snapshot(bytes).has_value()); }},
      {"commit_building",
       [&] {
         Slice slice(registry, scene.setting, scene.signalled.at, "guard", "node");
         CAIRN_ASSERT(slice.apply(*scene.program, scene.waiting, scene.signalled.what).has_value());
         encode_ahead(slice.unit, Limits().piece_bytes_min);
         CAIRN_ASSERT(slice.unit.encoded.size() == 1);
       }},
      {"commit_queue",
       [&] {
         int answered = 0;
         for (int i = 0; i < 64; ++i) {
           queue.submit({}, [&](const Result<CommitOutcome>& outcome, const Unit&) { answered += outcome ? 1 : 0; });
         }
         CAIRN_ASSERT(queue.commit({}).has_value() && answered == 64);
       }},
  };
  const auto found = guarded.find(arguments[1]);
  if (found == guarded.end()) {
    std::cerr << "no guard " << arguments[1] << "\n";
    return 2;
  }
  found->second();  // warm-up: first-use initialization is not counted
  measured(found->second, rounds);
  return 0;
}
