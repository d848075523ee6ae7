#include "definition/definition.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

std::string document(const std::string& steps) { return "cairn: 1\nname: test.one\nversion: 1.0.0\nsteps:\n" + steps; }

Definition load(const std::string& steps) { return load_definition(document(steps), "test.yaml"); }

std::string findings(const Definition& definition) {
  std::string all;
  for (const Diagnostic& diagnostic : definition.diagnostics) all += format_diagnostic("f", diagnostic) + "\n";
  return all;
}

// The canonical form of the first step without its id.
std::string canonical_step(const std::string& steps) {
  const Definition definition = load(steps);
  if (!definition.valid()) return findings(definition);
  Json step = definition.canonical["steps"].items().front();
  step.erase("id");
  return write_json(step);
}

TEST(Canonical, ShortFormsHaveOneSpelling) {
  EXPECT_EQ(canonical_step("  - wait: 90m"), R"({"type":"wait","wait":{"for":"PT1H30M"}})");
  EXPECT_EQ(canonical_step("  - wait: {for: PT1H30M}"), R"({"type":"wait","wait":{"for":"PT1H30M"}})");
  EXPECT_EQ(canonical_step("  - wait: = duration('1h')"),
            R"j({"type":"wait","wait":{"for":{"$expr":"duration('1h')"}}})j");
  EXPECT_EQ(canonical_step("  - wait: {until: '2026-01-31T08:00:00+02:00'}"),
            R"({"type":"wait","wait":{"until":"2026-01-31T06:00:00Z"}})");
  EXPECT_EQ(canonical_step("  - if: '= input.a '\n    then: []"),
            R"({"else":[],"if":{"$expr":"input.a"},"then":[],"type":"if"})");
  EXPECT_EQ(canonical_step("  - undo: {}"), R"({"type":"undo","undo":{}})");
  EXPECT_EQ(canonical_step("  - switch: [{when: input.a, steps: []}]"),
            R"({"switch":[{"steps":[],"when":{"$expr":"input.a"}},{"default":[]}],"type":"switch"})");
  EXPECT_EQ(canonical_step("  - emit: {type: a.b}"), R"({"emit":{"data":null,"type":"a.b"},"type":"emit"})");
  EXPECT_EQ(
      canonical_step("  - parallel: {branches: {b: [], a: []}, join: any}"),
      R"({"parallel":{"branches":[{"name":"b","steps":[]},{"name":"a","steps":[]}],"join":"any"},"type":"parallel"})");
}

TEST(Canonical, SetKeepsTheOrderWritten) {
  EXPECT_EQ(canonical_step("  - set: {z: 1, a.b: = state.z}"),
            R"({"set":[{"path":"z","value":1},{"path":"a.b","value":{"$expr":"state.z"}}],"type":"set"})");
  EXPECT_EQ(canonical_step("  - set: [{path: z, value: 1}]"), R"({"set":[{"path":"z","value":1}],"type":"set"})");
}

TEST(Canonical, CallsHaveTheirDefaultsWrittenOut) {
  EXPECT_EQ(
      canonical_step("  - call: {http: {url: 'https://example.com'}, retry: none}"),
      R"({"call":{"http":{"accept":[],"headers":{},"method":"GET","query":{},"response":"body",)"
      R"("url":"https://example.com"},"retry":{"attempts":1,"backoff":"PT1S","cap":"PT5M","factor":2,"jitter":0.5},)"
      R"("timeout":"PT30S"},"type":"call"})");
  EXPECT_EQ(canonical_step("  - call: {worker: {type: a.v1}, retry: {attempts: 5, factor: 2.0}}"),
            R"({"call":{"retry":{"attempts":5,"backoff":"PT1S","cap":"PT5M","factor":2,"jitter":0.5},)"
            R"("worker":{"payload":{},"type":"a.v1"}},"type":"call"})");
}

TEST(Canonical, LiteralsThatLookLikeExpressionsStayLiteral) {
  EXPECT_EQ(canonical_step(
                "  - set: {a: ' =x', b: '= \"=x\"', c: {$literal: '=y'}, d: {$literal: {$expr: 1}}, e: {$expr: 5}}"),
            R"({"set":[{"path":"a","value":" =x"},{"path":"b","value":{"$expr":"\"=x\""}},)"
            R"({"path":"c","value":{"$expr":"\"=y\""}},{"path":"d","value":{"$literal":{"$expr":1}}},)"
            R"({"path":"e","value":{"$literal":{"$expr":5}}}],"type":"set"})");
}

TEST(Canonical, RequiresAndFunctionsComeFromTheExpressions) {
  const Definition definition = load(
      "  - call: {http: {url: = config.url, headers: {A: '= secret(\"token\")'}}}\n"
      "  - call: {worker: {type: b.v1, payload: {n: '= size(state.items)', o: = config.?maybe}}}\n"
      "  - subworkflow: {name: child, version: 2.0.0}\n"
      "  - continue_with: {name: next}\n");
  ASSERT_TRUE(definition.valid()) << findings(definition);
  EXPECT_EQ(
      write_json(definition.canonical["requires"]),
      R"({"config":["url"],"secrets":["token"],"subworkflows":[{"name":"child","version":"2.0.0"},{"name":"next"}],)"
      R"("transports":["http","worker"],"workers":["b.v1"]})");
  EXPECT_NE(write_json(definition.canonical["functions"]).find("size"), std::string::npos);
}

TEST(Program, StepsAndLanesHaveReadablePlaces) {
  const Definition definition = load(
      "  - if: input.a\n"
      "    then: [{set: {x: 1}}]\n"
      "    else:\n"
      "      - id: ask\n"
      "        task: {name: Ask, on_complete: [{set: {x: = completion.x}}]}\n"
      "  - parallel: {branches: {left: [{undo: {}}], right: []}}\n");
  ASSERT_TRUE(definition.valid()) << findings(definition);
  const Program& program = *definition.program;
  EXPECT_EQ(program.blocks[0].lane, "steps");
  EXPECT_EQ(program.blocks[0].steps.size(), 2u);
  const StepIndex ask = program.find_step("ask");
  ASSERT_NE(ask, no_index);
  EXPECT_EQ(program.steps[ask].path, "steps[0].else[0]");
  EXPECT_EQ(program.steps[ask].at.line, 8);
  EXPECT_NE(program.find_step("steps[0].else[0].on_complete[0]"), no_index);
  EXPECT_NE(program.find_step("steps[1].parallel.left[0]"), no_index);
  EXPECT_EQ(program.find_step("steps[9]"), no_index);
  const auto& task = std::get<TaskStep>(program.steps[ask].body).task;
  EXPECT_EQ(program.blocks[task.on_complete].owner, ask);
  EXPECT_EQ(program.blocks[task.on_complete].lane, "on_complete");
}

TEST(Program, LoopNamesHaveOneSlotEach) {
  const Definition definition = load(
      "  - repeat: {for_each: = input.a, as: order, steps: [{repeat: {for_each: = order.lines, as: line, steps: "
      "[{emit: {type: t, data: = line}}]}}]}\n"
      "  - repeat: {for_each: = input.b, as: order, steps: [{emit: {type: t, data: '= [order, index]'}}]}\n");
  ASSERT_TRUE(definition.valid()) << findings(definition);
  EXPECT_EQ(definition.program->item_names, (std::vector<std::string>{"item", "order", "line"}));
  EXPECT_EQ(std::get<RepeatStep>(definition.program->steps[0].body).item_slot, slot_first_item + 1);
}

TEST(Program, StoredFormsAreNotTrusted) {
  EXPECT_FALSE(compile_program(Json()).has_value());
  EXPECT_FALSE(compile_program(Json::array()).has_value());
  EXPECT_FALSE(compile_program(Json::object()).has_value());
  Definition definition = load("  - undo: {}");
  ASSERT_TRUE(definition.valid());
  Json broken = definition.canonical;
  broken.edit("steps").push_back(Json::object({{"type", "undo"}, {"undo", 5}}));
  const auto compiled = compile_program(broken);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_NE(compiled.error().message.find("[/steps/1/undo]"), std::string::npos);
}

TEST(Program, AStoredFormKeepsItsBytesAndDigest) {
  const Definition definition = load("  - undo: {}");
  Json older = definition.canonical;
  older.erase("functions");  // a release before `functions` wrote no such member
  const auto compiled = compile_program(older);
  ASSERT_TRUE(compiled.has_value());
  EXPECT_EQ((*compiled)->canonical, older);
  EXPECT_NE((*compiled)->digest, definition.digest);
}

TEST(Transports, OnlyRegisteredOnesAreKnown) {
  const std::string steps = "  - call: {amqp: {queue: a}}";
  EXPECT_FALSE(load(steps).valid());
  const std::vector<std::string> further = {"amqp"};
  const Definition known = load_definition(document(steps), "test.yaml", {}, further);
  ASSERT_TRUE(known.valid()) << findings(known);
  EXPECT_EQ(std::get<CallStep>(known.program->steps[0].body).transport, "amqp");
  EXPECT_TRUE(compile_program(known.canonical).has_value());
  const Definition both = load_definition(document("  - call: {amqp: {}, http: {url: 'http://a'}}"), "f", {}, further);
  EXPECT_FALSE(both.valid());
}

TEST(SelfStart, OnlyACertainOneIsRefused) {
  const char* const refused[] = {
      "  - subworkflow: {name: test.one}",
      "  - set: {a: 1}\n  - subworkflow: {name: test.one, version: 1.0.0}",
      "  - try: [{subworkflow: {name: test.one}}]\n    finally: []",
      "  - parallel: {branches: {a: [{wait: 1h}], b: [{subworkflow: {name: test.one}}]}}",
      "  - repeat: {times: 2, steps: [{subworkflow: {name: test.one}}]}",
      "  - wait: 0s\n  - subworkflow: {name: test.one}",
      "  - continue_with: {name: test.one}",
  };
  for (const char* steps : refused) {
    const Definition definition = load(steps);
    EXPECT_FALSE(definition.valid()) << steps;
    EXPECT_NE(findings(definition).find("itself"), std::string::npos) << steps;
  }
  const char* const accepted[] = {
      "  - wait: 1h\n  - subworkflow: {name: test.one}",
      "  - if: input.deep\n    then: [{subworkflow: {name: test.one}}]",
      "  - if: input.done\n    then: [{complete: {}}]\n  - subworkflow: {name: test.one}",
      "  - subworkflow: {name: test.one}\n    when: input.deep",
      "  - subworkflow: {name: test.one, version: 0.9.0}",
      "  - repeat: {for_each: = input.children, steps: [{subworkflow: {name: test.one, input: = item}}]}",
      "  - signal: {name: go}\n  - continue_with: {name: test.one}",
  };
  for (const char* steps : accepted) EXPECT_TRUE(load(steps).valid()) << steps << "\n" << findings(load(steps));
}

TEST(Findings, AtMostAHundredErrorsOfAFile) {
  std::string steps;
  for (int i = 0; i < 300; ++i) steps += "  - st: 1\n";
  const Definition definition = load(steps);
  EXPECT_EQ(definition.diagnostics.size(), 100u);
  EXPECT_EQ(definition.diagnostics.front().line, 5);
  EXPECT_EQ(definition.diagnostics.back().line, 104);
}

TEST(FromJson, ABuilderValueIsASourceToo) {
  const Json source = Json::object(
      {{"cairn", 1}, {"name", "built"}, {"version", "1"}, {"steps", Json::array({Json::object({{"wait", "1h"}})})}});
  const Definition built = definition_of(source);
  ASSERT_TRUE(built.valid());
  const Definition written = load_definition("cairn: 1\nname: built\nversion: '1'\nsteps: [{wait: 60m}]", "built.yaml");
  EXPECT_EQ(built.digest, written.digest);
  const Definition wrong = definition_of(Json::object({{"cairn", 1}}));
  EXPECT_FALSE(wrong.valid());
  EXPECT_EQ(wrong.diagnostics.size(), 3u);
}

}  // namespace
}  // namespace cairn
