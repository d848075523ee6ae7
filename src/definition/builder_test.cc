#include <gtest/gtest.h>

#include <limits>

#include "cairn/definition.h"
#include "definition/definition.h"

namespace cairn {
namespace {

using namespace flow;
using namespace std::chrono_literals;

Json canonical_of(const Workflow& made) {
  const Result<Definition> built = made.build();
  return built ? built->canonical : Json("FAULT " + built.error().message);
}

Json canonical_of_yaml(const std::string& yaml) {
  const Definition definition = load_definition(yaml, "test.yaml");
  if (definition.valid()) return definition.canonical;
  std::string lines;
  for (const Diagnostic& finding : definition.diagnostics) lines += format_diagnostic("test.yaml", finding) + "\n";
  return Json("FAULT " + lines);
}

// The builder and the YAML must give the same bytes.
void expect_same(const Workflow& made, const std::string& yaml) {
  const Json expected = canonical_of_yaml(yaml);
  ASSERT_TRUE(expected.is_object()) << expected.as_string();
  EXPECT_EQ(write_json_pretty(canonical_of(made)), write_json_pretty(expected));
}

constexpr const char* head = "cairn: 1\nname: a.b\nversion: 1.0.0\n";

// Compares one step with its YAML list item. `state` gives expressions something to read.
void expect_step(const Steps& steps, const std::string& yaml_items) {
  expect_same(workflow("a.b", "1.0.0").state({{"n", 1}, {"who", "me"}, {"list", list({1, 2})}}).steps(steps),
              std::string(head) + "state: { n: 1, who: me, list: [1, 2] }\nsteps:\n" + yaml_items);
}

TEST(Builder, Document) {
  expect_same(workflow("a.b", "1.0.0")
                  .title("A title")
                  .input(json(R"({"type": "object", "required": ["no"]})"))
                  .reference(Reference().key(cel("input.no")).parts({{"customer", cel("input.no")}}))
                  .state({{"amount", 5}, {"note", nullptr}})
                  .managers({"lead", cel("state.amount > 5 ? \"chief\" : \"boss\"")})
                  .on_error_compensate()
                  .checkpoint_step()
                  .schedule(Schedule::cron("0 6 * * MON-FRI").zone("Europe/Berlin").input({{"no", 1}}).overlap_queue())
                  .schedule(Schedule::every(1h).catch_up(std::chrono::days(1)).jitter(30s))
                  .steps({undo()})
                  .output({{"amount", cel("state.amount")}}),
              std::string(head) +
                  "title: A title\n"
                  "input: { type: object, required: [no] }\n"
                  "reference: { key: = input.no, parts: { customer: = input.no } }\n"
                  "state: { amount: 5, note: null }\n"
                  "managers: [lead, '= state.amount > 5 ? \"chief\" : \"boss\"']\n"
                  "on_error: compensate\n"
                  "checkpoint: step\n"
                  "schedules:\n"
                  "  - { cron: 0 6 * * MON-FRI, zone: Europe/Berlin, input: { no: 1 }, overlap: queue }\n"
                  "  - { every: 1h, catch_up: 1d, jitter: 30s }\n"
                  "steps: [ { undo: {} } ]\n"
                  "output: { amount: = state.amount }\n");
}

TEST(Builder, Policies) {
  const auto one_of = [](auto choose) {
    Workflow made = workflow("a.b", "1.0.0").steps({undo()});
    choose(made);
    return canonical_of(made);
  };
  EXPECT_EQ(one_of([](Workflow& made) { made.on_error_fail(); })["on_error"], Json("fail"));
  EXPECT_EQ(one_of([](Workflow& made) { made.on_error_suspend(); })["on_error"], Json("suspend"));
  EXPECT_EQ(one_of([](Workflow& made) { made.checkpoint_wait(); })["checkpoint"], Json("wait"));
  const auto overlap = [&](auto choose) {
    return one_of([&](Workflow& made) {
             Schedule schedule = Schedule::every(1h);
             choose(schedule);
             made.schedule(schedule);
           })["schedules"]
        .items()[0]["overlap"];
  };
  EXPECT_EQ(overlap([](Schedule& schedule) { schedule.overlap_skip(); }), Json("skip"));
  EXPECT_EQ(overlap([](Schedule& schedule) { schedule.overlap_allow(); }), Json("allow"));
  EXPECT_EQ(overlap([](Schedule& schedule) { schedule.overlap_cancel_other(); }), Json("cancel_other"));
}

TEST(Builder, CommonKeysOfSteps) {
  expect_step({set({{"a", 1}}).id("first_one").title("First").when("state.n > 0").compensate({set({{"a", 0}})})},
              "  - id: first_one\n    title: First\n    when: state.n > 0\n    set: { a: 1 }\n"
              "    compensate: [ { set: { a: 0 } } ]\n");
}

TEST(Builder, SetKeepsItsOrder) {
  expect_step({set({{"z.y", cel("state.n + 1")}, {"a", "text"}, {"m", list({1, "x", object({{"k", true}})})}})},
              "  - set: { z.y: = state.n + 1, a: text, m: [1, x, { k: true }] }\n");
  expect_step({Set().assign("b", 1).assign("a", 2)}, "  - set: { b: 1, a: 2 }\n");
}

TEST(Builder, Values) {
  expect_step({set({{"int", std::numeric_limits<std::int64_t>::min()},
                    {"number", 2.5},
                    {"whole", 3.0},
                    {"off", false},
                    {"none", nullptr},
                    {"empty", object()},
                    {"nothing", list({})},
                    {"text", "= not an expression"},
                    {"deep", {{"a", {{"b", cel("state.n")}}}}},
                    {"raw", json(R"({"$expr": "x", "t": "=y"})")},
                    {"schema", json(R"(["=z", {"n": 1}])")}})},
              "  - set:\n"
              "      int: -9223372036854775808\n"
              "      number: 2.5\n"
              "      whole: 3.0\n"
              "      off: false\n"
              "      none: null\n"
              "      empty: {}\n"
              "      nothing: []\n"
              "      text: '= \"= not an expression\"'\n"
              "      deep: { a: { b: = state.n } }\n"
              "      raw: { $literal: { $expr: x, t: =y } }\n"
              "      schema: [ '= \"=z\"', { n: 1 } ]\n");
}

TEST(Builder, Reference) {
  expect_step({set_reference(Reference().key("k").parts({{"p", cel("state.n")}}))},
              "  - reference: { key: k, parts: { p: = state.n } }\n");
}

TEST(Builder, Tasks) {
  expect_step({task("Review")
                   .id("review")
                   .task_title(cel("\"Review \" + state.who"))
                   .roles({"underwriter", cel("state.who")})
                   .exclude(cel("[state.who]"))
                   .payload({{"n", cel("state.n")}})
                   .form(json(R"({"type": "object", "required": ["ok"]})"))
                   .require("completion.ok == true")
                   .require("state.n > 0")
                   .deadline(Deadline::after(std::chrono::days(2)).keep_task_open().steps({set({{"n", 0}})}))
                   .priority(5)
                   .due(36h)
                   .assignee(cel("state.who"))
                   .remind(24h)
                   .remind("2d")
                   .result("review")
                   .on_complete({set({{"ok", cel("completion.ok")}})}),
               set({{"copy", cel("state.review")}})},
              "  - id: review\n"
              "    task:\n"
              "      name: Review\n"
              "      title: = \"Review \" + state.who\n"
              "      roles: [underwriter, = state.who]\n"
              "      exclude: = [state.who]\n"
              "      payload: { n: = state.n }\n"
              "      form: { type: object, required: [ok] }\n"
              "      require: [ completion.ok == true, state.n > 0 ]\n"
              "      deadline: { after: 2d, interrupt: false, steps: [ { set: { n: 0 } } ] }\n"
              "      priority: 5\n"
              "      due: 1d12h\n"
              "      assignee: = state.who\n"
              "      remind: [1d, 2d]\n"
              "      result: review\n"
              "      on_complete: [ { set: { ok: = completion.ok } } ]\n"
              "  - set: { copy: = state.review }\n");
  expect_step({task("T").due_at("2030-01-31T08:00:00Z").deadline(Deadline::at(cel("now")))},
              "  - task: { name: T, due: '2030-01-31T08:00:00Z', deadline: { at: = now } }\n");
}

TEST(Builder, Calls) {
  expect_step({call("score")
                   .http(Http("POST", cel("config.url"))
                             .headers({{"Authorization", cel("\"Bearer \" + secret(\"token\")")}})
                             .query({{"q", "x"}})
                             .body({{"n", cel("state.n")}})
                             .accept(404)
                             .accept(409)
                             .full_response())
                   .timeout(1500ms)
                   .retry(Retry().attempts(5).backoff(250ms).factor(1.5).cap(5min).jitter(0.1))
                   .result("score")
                   .on_failure({set({{"n", cel("error.code")}})})
                   .on_timeout({}),
               set({{"copy", cel("state.score")}})},
              "  - id: score\n"
              "    call:\n"
              "      http:\n"
              "        method: POST\n"
              "        url: = config.url\n"
              "        headers: { Authorization: = \"Bearer \" + secret(\"token\") }\n"
              "        query: { q: x }\n"
              "        body: { n: = state.n }\n"
              "        accept: [404, 409]\n"
              "        response: full\n"
              "      timeout: 1s500ms\n"
              "      retry: { attempts: 5, backoff: 250ms, factor: 1.5, cap: 5m, jitter: 0.1 }\n"
              "      result: score\n"
              "      on_failure: [ { set: { n: = error.code } } ]\n"
              "      on_timeout: []\n"
              "  - set: { copy: = state.score }\n");
  expect_step({call().graphql(Graphql("https://x.example/q", "query Q { a }")
                                  .variables({{"v", 1}})
                                  .operation("Q")
                                  .headers({{"X-A", "b"}})),
               call().worker("billing.charge.v1", {{"n", cel("state.n")}}).no_retry(), call().worker("plain.v1")},
              "  - call:\n"
              "      graphql:\n"
              "        url: https://x.example/q\n"
              "        query: query Q { a }\n"
              "        variables: { v: 1 }\n"
              "        operation: Q\n"
              "        headers: { X-A: b }\n"
              "  - call: { worker: { type: billing.charge.v1, payload: { n: = state.n } }, retry: none }\n"
              "  - call: { worker: { type: plain.v1 } }\n");
}

TEST(Builder, Branching) {
  expect_step({if_("state.n > 1").then({set({{"a", 1}})}).otherwise({set({{"a", 2}})}), if_("state.n > 2"),
               switch_().on("state.n == 1", {set({{"b", 1}})}).on("state.n == 2", {}).otherwise({set({{"b", 3}})}),
               switch_().on("state.n == 1", {set({{"b", 1}})})},
              "  - if: state.n > 1\n    then: [ { set: { a: 1 } } ]\n    else: [ { set: { a: 2 } } ]\n"
              "  - if: state.n > 2\n    then: []\n"
              "  - switch:\n"
              "      - { when: state.n == 1, steps: [ { set: { b: 1 } } ] }\n"
              "      - { when: state.n == 2, steps: [] }\n"
              "      - { default: [ { set: { b: 3 } } ] }\n"
              "  - switch: [ { when: state.n == 1, steps: [ { set: { b: 1 } } ] } ]\n");
}

TEST(Builder, Loops) {
  expect_step({for_each(cel("state.list")).as("line").max(10).steps({set({{"n", cel("line + index")}})}),
               for_each(list({1, 2})).steps({set({{"n", cel("item")}})}),
               while_("state.n < 3").max(5).steps({set({{"n", cel("state.n + 1")}})}),
               times(3).steps({set({{"n", cel("index")}})}), times(cel("state.n")).steps({wait(1s)})},
              "  - repeat: { for_each: = state.list, as: line, max: 10, steps: [ { set: { n: = line + index } } ] }\n"
              "  - repeat: { for_each: [1, 2], steps: [ { set: { n: = item } } ] }\n"
              "  - repeat: { while: state.n < 3, max: 5, steps: [ { set: { n: = state.n + 1 } } ] }\n"
              "  - repeat: { times: 3, steps: [ { set: { n: = index } } ] }\n"
              "  - repeat: { times: = state.n, steps: [ { wait: 1s } ] }\n");
}

TEST(Builder, Parallel) {
  const auto made = [] { return parallel().branch("z", {set({{"a", 1}})}).branch("b", {wait(1min)}).branch("m", {}); };
  const std::string yaml = "  - parallel:\n      branches: { z: [ { set: { a: 1 } } ], b: [ { wait: 1m } ], m: [] }\n";
  expect_step({made().join_all()}, yaml);
  expect_step({made().join_any()}, yaml + "      join: any\n");
  expect_step({made().join(2)}, yaml + "      join: 2\n");
}

TEST(Builder, Waits) {
  expect_step({wait(90min), wait(0s), wait(std::chrono::days(400)), wait(std::chrono::nanoseconds(5)),
               wait(cel("duration(\"5s\")")), wait("P1DT2H"), wait_until("2030-01-31T10:00:00+02:00"),
               wait_until(cel("now + duration(\"1h\")"))},
              "  - wait: 1h30m\n  - wait: PT0S\n  - wait: 400d\n  - wait: PT0.000000005S\n"
              "  - wait: = duration(\"5s\")\n  - wait: 1d2h\n  - wait: { until: '2030-01-31T08:00:00Z' }\n"
              "  - wait: { until: = now + duration(\"1h\") }\n");
}

TEST(Builder, SignalsAndFirst) {
  expect_step({signal("paid")
                   .key(cel("state.who"))
                   .where("signal.amount > 0")
                   .result("payment")
                   .timeout(std::chrono::days(7))
                   .on_timeout({set({{"late", true}})}),
               first({Option(signal("paid").key("k"), {set({{"a", cel("signal.amount")}})}), Option(wait(5min)),
                      Option(task("Decide").roles({"x"}), {set({{"a", cel("completion.a + state.payment.a")}})})})
                   .id("race")},
              "  - signal:\n"
              "      name: paid\n"
              "      key: = state.who\n"
              "      where: signal.amount > 0\n"
              "      result: payment\n"
              "      timeout: 1w\n"
              "      on_timeout: [ { set: { late: true } } ]\n"
              "  - id: race\n"
              "    first:\n"
              "      - signal: { name: paid, key: k }\n"
              "        steps: [ { set: { a: = signal.amount } } ]\n"
              "      - wait: 5m\n"
              "      - task: { name: Decide, roles: [x] }\n"
              "        steps: [ { set: { a: = completion.a + state.payment.a } } ]\n");
}

TEST(Builder, OtherWorkflows) {
  expect_step(
      {subworkflow("child.flow")
           .version("2.0.0")
           .input({{"n", cel("state.n")}})
           .reference(Reference().key("k"))
           .result("child")
           .on_failure({set({{"code", cel("error.code")}})}),
       continue_with("next.flow").version("1.0.0").input({{"x", cel("state.child")}}).reference(Reference().key("z"))},
      "  - subworkflow:\n"
      "      name: child.flow\n"
      "      version: 2.0.0\n"
      "      input: { n: = state.n }\n"
      "      reference: { key: k }\n"
      "      result: child\n"
      "      on_failure: [ { set: { code: = error.code } } ]\n"
      "  - continue_with: { name: next.flow, version: 1.0.0, input: { x: = state.child }, reference: { key: z } }\n");
}

TEST(Builder, ErrorsAndEnds) {
  expect_step({try_({fail("no_money").message(cel("\"n is \" + string(state.n)")).details({{"n", 1}})})
                   .catch_when("error.class == \"business\"", {set({{"a", 1}})})
                   .catch_({emit("x.y").subject(cel("state.who")).data({{"n", 1}})})
                   .finally_({set({{"b", 1}})}),
               try_({undo()}).finally_({}), emit(cel("state.who")), complete().output({{"n", cel("state.n")}})},
              "  - try:\n"
              "      - fail: { code: no_money, message: = \"n is \" + string(state.n), details: { n: 1 } }\n"
              "    catch:\n"
              "      - { when: error.class == \"business\", steps: [ { set: { a: 1 } } ] }\n"
              "      - { steps: [ { emit: { type: x.y, subject: = state.who, data: { n: 1 } } } ] }\n"
              "    finally: [ { set: { b: 1 } } ]\n"
              "  - try: [ { undo: {} } ]\n    finally: []\n"
              "  - emit: { type: = state.who }\n"
              "  - complete: { output: { n: = state.n } }\n");
  expect_step({complete()}, "  - complete: {}\n");
}

TEST(Builder, PartsAreValuesThatMayBeUsedTwice) {
  const Set log = set({{"log", 1}});
  Steps lane;
  lane.then(log).then(wait(1s)).then(log);
  Steps longer = lane;
  longer.then(undo());
  expect_step({if_("state.n > 0").then(lane).otherwise(longer)},
              "  - if: state.n > 0\n"
              "    then: [ { set: { log: 1 } }, { wait: 1s }, { set: { log: 1 } } ]\n"
              "    else: [ { set: { log: 1 } }, { wait: 1s }, { set: { log: 1 } }, { undo: {} } ]\n");
}

TEST(Builder, AllErrorsAreReportedWithTheirPointers) {
  const Result<Definition> built =
      workflow("a.b", "1.0.0").steps({set({{"a", cel("nobody.x")}}), if_("1 +").then({})}).build();
  ASSERT_FALSE(built.has_value());
  EXPECT_EQ(built.error().code, ErrorCode::invalid);
  EXPECT_NE(built.error().message.find("/steps/0/set/0/value"), std::string::npos) << built.error().message;
  EXPECT_NE(built.error().message.find("/steps/1/if"), std::string::npos) << built.error().message;
}

TEST(Builder, WhatCannotBeJsonIsAnErrorOfBuild) {
  const auto message = [](const Value& value) {
    const Result<Json> built = workflow("a.b", "1.0.0").steps({set({{"a", value}})}).canonical();
    return built ? std::string("fine") : built.error().message;
  };
  EXPECT_EQ(message(json("[1, 2")).rfind("json(…): 1:", 0), 0u) << message(json("[1, 2"));
  EXPECT_EQ(message(std::numeric_limits<double>::infinity()), "infinity and NaN are no JSON numbers");
  EXPECT_EQ(message({{"k", 1}, {"k", 2}}), "the key `k` occurs twice in one object");
  EXPECT_EQ(message({{"k", 1}, {"l", 2}}), "fine");
}

}  // namespace
}  // namespace cairn
