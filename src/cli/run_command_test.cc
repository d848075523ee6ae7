// Rules R1 to R15 of docs/semantics.md, one by one.
#include <fstream>

#include "cli/command_fixture_test.h"

namespace cairn::cli {
namespace {

namespace fs = std::filesystem;

class RunCommandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static int number = 0;
    folder_ = fs::temp_directory_path() / ("cairn-run-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  std::string define(const std::string& rest, const std::string& name = "flow") {
    return write(name + ".yaml", "cairn: 1\nname: " + name + "\nversion: 1.0.0\n" + rest);
  }
  Outcome run(const std::vector<std::string>& args) { return run_command(run_run, args); }

  fs::path folder_;
};

constexpr const char* one_task = "steps: [ { task: { name: T, result: r } } ]\noutput: = state.r\n";

TEST_F(RunCommandTest, R1PrintsTheOutputAndNothingElse) {
  const Outcome done = run({define("steps: [ { emit: { type: a.b, subject: s } } ]\noutput: { x: = 1 + 1 }\n")});
  EXPECT_EQ(done.code, 0);
  EXPECT_EQ(done.out, "{\"x\":2}\n");
  EXPECT_EQ(done.err, "event a.b s\n");
}

TEST_F(RunCommandTest, R2ListsWhatItWaitsFor) {
  const Outcome waiting =
      run({define("state: { n: 1 }\nsteps:\n  - parallel:\n      branches:\n"
                  "        a: [ { id: ask, task: { name: T, title: = 'no ' + string(state.n), roles: [r], exclude: "
                  "[bob], payload: { n: = state.n }, "
                  "deadline: { after: 1h } } } ]\n"
                  "        b: [ { id: sig, signal: { name: paid, key: K, timeout: 2h } } ]\n")});
  EXPECT_EQ(waiting.code, 5);
  const Json document = waiting.json();
  EXPECT_EQ(document["status"], Json("waiting"));
  EXPECT_EQ(document["state"], Json::object({{"n", 1}}));
  ASSERT_EQ(document["waits"].size(), 4u);
  const Json& task = document["waits"].items()[0];
  EXPECT_EQ(task["kind"], Json("task"));
  EXPECT_EQ(task["step"], Json("ask"));
  EXPECT_EQ(task["title"], Json("no 1"));
  EXPECT_EQ(task["exclude"], Json::array({"bob"}));
  EXPECT_EQ(task["payload"], Json::object({{"n", 1}}));
  EXPECT_TRUE(task["token"].is_string());
  const Json& deadline = document["waits"].items()[1];
  EXPECT_EQ(deadline["kind"], Json("timer"));
  EXPECT_EQ(deadline["step"], Json("ask"));
  EXPECT_TRUE(deadline["until"].is_string());
  const Json& signal = document["waits"].items()[2];
  EXPECT_EQ(signal["name"], Json("paid"));
  EXPECT_EQ(signal["key"], Json("K"));
  EXPECT_EQ(document["waits"].items()[3]["kind"], Json("timer"));
}

TEST_F(RunCommandTest, R3TellsWhatWentWrongAndWhere) {
  const std::string file = define("steps:\n  - id: bad\n    set: { a: = state.b }\n");
  const Outcome suspended = run({file});
  EXPECT_EQ(suspended.code, 5);
  const Json error = suspended.json()["error"];
  EXPECT_EQ(suspended.json()["status"], Json("suspended"));
  EXPECT_EQ(error["class"], Json("expression"));
  EXPECT_EQ(error["code"], Json("no_such_key"));
  EXPECT_EQ(error["step"], Json("bad"));
  EXPECT_EQ(error["attempt"], Json(1));
  EXPECT_EQ(error["at"], Json(file + ":5:5"));
  EXPECT_FALSE(suspended.err.empty());
  EXPECT_EQ(run({define("steps: [ { fail: { code: x } } ]\n")}).json()["status"], Json("failed"));
}

TEST_F(RunCommandTest, R4AnswersAreUsedOnceInOrder) {
  const std::string file = define(
      "state: { l: [] }\nsteps:\n  - repeat: { times: 2, steps: [ { task: { name: T, result: r } }, "
      "{ set: { l: '= state.l + [state.r]' } } ] }\n  - task: { name: U, result: u }\noutput: '= state.l + "
      "[state.u]'\n");
  const Outcome done = run({file, "--answer", "U=3", "--answer", "T=1", "--answer", "T=2"});
  EXPECT_EQ(done.out, "[1,2,3]\n");
  const Outcome unused = run({file, "--answer", "T=1", "--answer", "Nobody=7"});
  EXPECT_EQ(unused.code, 5);
  EXPECT_NE(unused.err.find("Nobody=7"), std::string::npos);
}

TEST_F(RunCommandTest, R5R6ARefusedAnswerIsUsedUp) {
  const std::string file = define(
      "steps: [ { task: { name: T, exclude: [bob], form: { type: object, required: [d] }, require: [ completion.d > 1 "
      "], "
      "result: r, on_complete: [ { set: { by: = task.completed_by } } ] } } ]\noutput: = state\n");
  const Outcome done = run(
      {file, "--answer", "T@bob={\"d\":5}", "--answer", "T={}", "--answer", "T={\"d\":1}", "--answer", "T={\"d\":2}"});
  EXPECT_EQ(done.out, "{\"by\":\"cli\",\"r\":{\"d\":2}}\n");
  EXPECT_NE(done.err.find("bob"), std::string::npos);
  EXPECT_NE(done.err.find("`d`"), std::string::npos);
  EXPECT_NE(done.err.find("completion.d > 1"), std::string::npos);
  EXPECT_EQ(run({file, "--answer", "T@ann=@" + write("d.json", "{\"d\":9}")}).out,
            "{\"by\":\"ann\",\"r\":{\"d\":9}}\n");
}

TEST_F(RunCommandTest, R7SignalsComeFirstAndAreKept) {
  const std::string file =
      define("steps: [ { task: { name: T } }, { signal: { name: s, key: b:c, result: r } } ]\noutput: = state.r\n");
  const Outcome done = run({file, "--answer", "T=1", "--signal", "s:a=1", "--signal", "s:b:c=2"});
  EXPECT_EQ(done.out, "2\n");
  EXPECT_NE(done.err.find("s:a=1"), std::string::npos);
  EXPECT_EQ(done.err.find("s:b:c=2"), std::string::npos);
}

TEST_F(RunCommandTest, R8TimeStandsStillUnlessSkipped) {
  const std::string file =
      define("state: { a: = now }\nsteps: [ { wait: 3d } ]\noutput: '= now - timestamp(state.a)'\n");
  EXPECT_EQ(run({file}).code, 5);
  EXPECT_EQ(run({file, "--skip-time"}).out, "\"P3D\"\n");
  // Answers are used before time is skipped.
  const std::string deadline =
      define("steps: [ { task: { name: T, result: r, deadline: { after: 1h } } } ]\noutput: = state\n");
  EXPECT_EQ(run({deadline, "--skip-time", "--answer", "T=1"}).out, "{\"r\":1}\n");
  EXPECT_EQ(run({deadline, "--skip-time"}).out, "{}\n");
}

TEST_F(RunCommandTest, R9ChildrenComeFromWith) {
  const std::string parent =
      define("steps: [ { id: s, subworkflow: { name: child, result: r } } ]\noutput: = state.r\n");
  const Json error = run({parent}).json()["error"];
  EXPECT_EQ(error["class"], Json("definition"));
  EXPECT_EQ(error["code"], Json("unknown_workflow"));
  EXPECT_EQ(error["step"], Json("s"));
  const std::string child = define("steps: [ { task: { name: T, result: r } } ]\noutput: = state.r\n", "child");
  EXPECT_EQ(run({parent, "--with", child, "--answer", "T=4"}).out, "4\n");
  EXPECT_EQ(run({parent, "--with", folder_.string(), "--answer", "T=5"}).out, "5\n");
  const Json waits = run({parent, "--with", child}).json()["waits"];
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits.items()[0]["kind"], Json("subworkflow"));
  EXPECT_EQ(waits.items()[0]["name"], Json("child"));
  EXPECT_TRUE(waits.items()[0]["instance_id"].is_string());
  EXPECT_EQ(waits.items()[1]["name"], Json("T"));
}

TEST_F(RunCommandTest, R10RepliesAnswerCalls) {
  const std::string file = define(
      "steps:\n  - call: { worker: { type: w.v1 }, retry: none, result: r, on_failure: [ { set: { r: = error.code } } "
      "] }\n"
      "  - { id: get, call: { http: { url: 'http://x/' }, retry: none, result: h, on_failure: [ { set: { h: = "
      "error.code } } ] } }\n"
      "output: '= [state.r, state.h]'\n");
  EXPECT_EQ(run({file}).out, "[\"no_handler_registered\",\"no_handler_registered\"]\n");
  EXPECT_EQ(run({file, "--reply", "w.v1=1", "--reply", "get=!http_500"}).out, "[1,\"http_500\"]\n");
  const std::string retried = define("steps: [ { call: { worker: { type: w.v1 }, result: r } } ]\noutput: = state.r\n");
  const Outcome waiting = run({retried, "--reply", "w.v1=!down", "--reply", "w.v1=2"});
  EXPECT_EQ(waiting.json()["waits"].items()[0]["kind"], Json("retry"));
  EXPECT_EQ(run({retried, "--reply", "w.v1=!down", "--reply", "w.v1=2", "--skip-time"}).out, "2\n");
}

TEST_F(RunCommandTest, R11InputThatIsRefusedStartsNothing) {
  const std::string file = define(
      "input: { type: object, properties: { n: { type: integer } } }\nsteps: [ { emit: { type: a.b } } ]\noutput: = "
      "input\n");
  EXPECT_EQ(run({file}).out, "{}\n");
  const Outcome refused = run({file, "--input", "{\"n\":\"x\"}"});
  EXPECT_EQ(refused.code, 8);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("/n"), std::string::npos);
  EXPECT_EQ(refused.err.find("event"), std::string::npos);
  EXPECT_EQ(run({file, "--input", std::string(200, '[') + std::string(200, ']')}).code, 8);
  EXPECT_EQ(run({file, "--input", "{\"n\":\"\\u0000\"}"}).code, 8);
  EXPECT_EQ(run({file, "--input", "{\"n\":\"\\ud800\"}"}).code, 8);
  EXPECT_EQ(run({file, "--input", "@" + write("i.json", "{\"n\":3}")}).out, "{\"n\":3}\n");
}

TEST_F(RunCommandTest, R12ConfigComesFromAFile) {
  const std::string file = define("steps: [ { set: { a: '= config.?a.orValue(7)' } } ]\noutput: = state.a\n");
  EXPECT_EQ(run({file}).out, "7\n");
  EXPECT_EQ(run({file, "--config", write("c.yaml", "a: 8\n")}).out, "8\n");
  const std::string strict = define("steps: [ { set: { a: = config.a } } ]\n");
  EXPECT_EQ(run({strict}).json()["error"]["class"], Json("expression"));
  EXPECT_EQ(run({file, "--config", "/nowhere.yaml"}).code, 2);
}

TEST_F(RunCommandTest, R13EffectsAreNamed) {
  const std::string file =
      define("steps: [ { emit: { type: a.b, subject: s, data: { n: 1 } } }, { continue_with: { name: next } } ]\n");
  const std::string next = define("steps: [ { set: { a: 1 } } ]\n", "next");
  const Outcome done = run({file, "--with", next, "-v"});
  EXPECT_EQ(done.code, 0);
  EXPECT_NE(done.err.find("event a.b s\n"), std::string::npos);
  EXPECT_NE(done.err.find("\"specversion\":\"1.0\""), std::string::npos);
  EXPECT_NE(done.err.find("continue_with next"), std::string::npos);
}

TEST_F(RunCommandTest, R14MalformedFlagsAreAWrongCall) {
  const std::string file = define(one_task);
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{{"--nope"},
                                                                                     {"--answer", "T"},
                                                                                     {"--answer", "T={"},
                                                                                     {"--signal", "s"},
                                                                                     {"--signal", "s=["},
                                                                                     {"--reply", "w"},
                                                                                     {"--reply", "w=!"},
                                                                                     {"--input", "{"},
                                                                                     {"--input"},
                                                                                     {"--input", "@/nowhere"},
                                                                                     {"second.yaml"}}) {
    std::vector<std::string> args{file};
    args.insert(args.end(), flags.begin(), flags.end());
    const Outcome refused = run(args);
    EXPECT_EQ(refused.code, 2) << flags.front();
    EXPECT_EQ(refused.out, "") << flags.front();
    if (flags.front().starts_with("--")) {
      EXPECT_NE(refused.err.find(flags.front()), std::string::npos) << refused.err;
    }
  }
  EXPECT_EQ(run({}).code, 2);
}

TEST_F(RunCommandTest, R15AFileThatCannotBeRun) {
  const Outcome invalid =
      run({write("bad.yaml", "cairn: 1\nname: x\nversion: 1.0.0\nsteps: [ { sett: { a: 1 } } ]\n")});
  EXPECT_EQ(invalid.code, 8);
  EXPECT_EQ(invalid.out, "");
  EXPECT_NE(invalid.err.find("bad.yaml:4:"), std::string::npos);
  const Outcome missing = run({"/nowhere/flow.yaml"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("/nowhere/flow.yaml"), std::string::npos);
}

TEST_F(RunCommandTest, TestReportsPassesFailuresAndCoverage) {
  define("steps: [ { if: input.x, then: [ { set: { a: 1 } } ], else: [ { set: { a: 2 } } ] } ]\noutput: = state.a\n");
  const std::string passing =
      write("p.test.yaml", "definition: flow.yaml\ninput: { x: true }\nsteps: [ { expect: { output: 1 } } ]\n");
  const auto test = [](std::vector<std::string> args) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const int code = run_test(args, in, out, err);
    return Outcome{code, out.str(), err.str()};
  };
  const Outcome passed = test({passing});
  EXPECT_EQ(passed.code, 0) << passed.err;
  EXPECT_NE(passed.out.find("coverage flow 1.0.0: 2 of 3 steps, 1 of 2 branches"), std::string::npos) << passed.out;
  EXPECT_NE(passed.out.find("never entered: steps[0].else"), std::string::npos);
  const std::string failing =
      write("f.test.yaml", "definition: flow.yaml\ninput: { x: false }\nsteps:\n  - expect: { output: 1 }\n");
  const Outcome failed = test({failing});
  EXPECT_EQ(failed.code, 1);
  EXPECT_NE(failed.err.find("f.test.yaml:4: output: expected 1, found 2"), std::string::npos) << failed.err;
  EXPECT_EQ(test({folder_.string(), "--json"}).json()["failed"], Json(1));
  EXPECT_EQ(test({write("i.test.yaml", "definition: nofile.yaml\nsteps: []\n")}).code, 8);
  EXPECT_EQ(test({"/nowhere.test.yaml"}).code, 2);
  EXPECT_EQ(test({}).code, 2);
  write("other.yaml", "cairn: 1\nname: other\nversion: 1.0.0\nsteps: [ { set: { a: 1 } } ]\n");
  const Outcome beside = test({write("w.test.yaml",
                                     "definition: flow.yaml\nwith: [ other.yaml ]\ninput: { x: true }\n"
                                     "steps: [ { expect: { output: 1 } } ]\n")});
  EXPECT_NE(beside.out.find("coverage other 1.0.0: 0 of 1 steps"), std::string::npos) << beside.out;
}

TEST_F(RunCommandTest, AScenariosOwnRepliesReplaceSharedOnes) {
  define(
      "steps: [ { call: { worker: { type: a.v1 }, result: a } }, { call: { worker: { type: b.v1 }, result: b } } ]\n"
      "output: = state\n");
  const std::string file = write(
      "replies.test.yaml",
      "definition: flow.yaml\n"
      "replies: [ { to: a.v1, result: 1 }, { to: b.v1, result: 2 } ]\n"
      "scenarios:\n"
      "  - { name: shared, steps: [ { expect: { output: { a: 1, b: 2 } } } ] }\n"
      "  - { name: own, replies: [ { to: a.v1, result: 5 } ], steps: [ { expect: { output: { a: 5, b: 2 } } } ] }\n");
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_test(std::vector<std::string>{file}, in, out, err), 0) << err.str();
}

TEST_F(RunCommandTest, SkippingTimeEndsInALoopThatNeverEnds) {
  const std::string file =
      define("steps: [ { repeat: { while: \"true\", max: 1000000000, steps: [ { wait: 1m } ] } } ]\n");
  const Outcome stopped = run({file, "--skip-time"});
  EXPECT_EQ(stopped.json()["status"], Json("waiting")) << stopped.err;
  EXPECT_NE(stopped.err.find("stopped: --skip-time fired 10000 timers"), std::string::npos) << stopped.err;
}

TEST_F(RunCommandTest, AConfigFileWithAKeyTwiceIsRefused) {
  const std::string file = define("steps: [ { set: { a: 1 } } ]\n");
  const Outcome refused = run({file, "--config", write("config.yaml", "a: 1\na: 2\n")});
  EXPECT_NE(refused.code, 0);
  EXPECT_NE(refused.err.find("config.yaml:2:1"), std::string::npos) << refused.err;
}

// Misspelt names in a scenario are errors with their place: otherwise the test could not fail.
TEST_F(RunCommandTest, TestRefusesScenariosThatTestNothing) {
  define("steps: [ { task: { name: T } } ]\n");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"steps: 5", "2:8: `steps` is a list"},
      {"input: 1", "`steps` is missing: nothing would be tested"},
      {"steps: []", "`steps` is missing: nothing would be tested"},
      {"steps: [ 3 ]", "2:10: a step is an event, an `expect`, or both"},
      {"steps: [ { answer: 3 } ]", "2:20: `answer` holds names and values: task, by, with"},
      {"steps: [ { answer: { tsk: T } } ]", "2:22: `answer` has no `tsk`; did you mean `task`?"},
      {"steps: [ { answer: { by: ann } } ]", "`answer` needs `task`"},
      {"steps: [ { signal: { nme: x } } ]", "2:22: `signal` has no `nme`; did you mean `name`?"},
      {"steps: [ { signal: { name: x, key: 5 } } ]", "2:36: `key` is a text"},
      {"steps: [ { clock: tomorrow } ]", "2:19: `clock` is +DURATION or an RFC 3339 time"},
      {"steps: [ { clock: -1h } ]", "2:19: `clock` is +DURATION or an RFC 3339 time"},
      {"steps: [ { retry: 5 } ]", "2:19: `retry` takes nothing"},
      {"steps: [ { cancel: [ 1 ] } ]", "2:20: `cancel` takes a reason"},
      {"steps: [ { skip: { with: 1 } } ]", "2:20: `skip` has no `with`"},
      {"steps: [ { edit: 5 } ]", "2:18: `edit` takes an object"},
      {"steps: [ { reply: { to: x, error: 5 } } ]", "2:35: `error` holds names and values"},
      {"steps: [ { reply: { to: x, error: { class: nope, code: z } } } ]", "2:44: `class` is definition"},
      {"replies: [ 3 ]", "2:12: `reply` holds names and values"},
      {"with: 5", "2:7: `with` is a list"},
      {"calls: maybe", "2:8: `calls` is hold or fail"},
      {"limits: { strands: 0 }", "2:20: a limit is a whole number, at least 1"},
      {"config: [ 1 ]", "2:9: `config` holds names and values"},
      {"steps: [ { expect: { statsu: waiting } } ]", "2:22: `expect` has no `statsu`; did you mean `status`?"},
      {"steps: [ { expect: 4 } ]", "2:20: `expect` holds names and values"},
      {"steps: [ { retry: {}, refused: 1 } ]", "2:32: `refused` is true, or a part of the reason"},
      {"steps: [ { retry: {}, refused: '' } ]", "2:32: `refused` is true, or a part of the reason"},
      {"steps: [ { expect: {} } ]", "2:20: `expect` is empty"},
      {"steps: [ { expect: { state: {} } } ]", "2:29: `state` is empty: it could never fail"},
      {"steps: [ { expect: { status: waiting, reference: {} } } ]", "2:50: `reference` is empty: it could never fail"},
      {"steps: [ { expect: { reference: { parts: {} } } } ]", "2:33: `reference` is empty: it could never fail"},
      {"steps: [ { expect: { reference: { kye: a } } } ]", "2:35: `reference` has no `kye`; did you mean `key`?"},
      {"steps: [ { expect: { reference: { key: a, part: {} } } } ]", "2:43: `reference` has no `part`"},
      {"steps: [ { clock: +1h } ]", "no step has `expect` or `refused`: nothing would be tested"},
      {"steps: [ { signal: Unknown }, { clock: +1h } ]", "no step has `expect` or `refused`"},
      {"scenarios: [ { steps: [ { expect: { status: waiting } } ] }, { steps: [ { clock: +1h } ] } ]",
       "2:1: no step has `expect` or `refused`"},
      {"steps: [ { expect: { status: waiting } }, { refused: true } ]", "2:43: `refused` needs an event"},
      {"steps: [ { refused: true }, { expect: { status: failed } } ]",
       "2:10: nothing can follow a start that is refused"},
      {"steps: [ { refused: x, expect: { status: failed } } ]", "2:10: nothing can follow a start that is refused"},
      {"reference: { kye: a }\nsteps: [ { expect: { status: waiting } } ]", "2:14: `reference` has no `kye`"},
      {"reference: { key: 5 }\nsteps: [ { expect: { status: waiting } } ]", "2:19: `key` is a text"},
      {"input: 1\ninput: 2\nsteps: [ { expect: { status: waiting } } ]", "3:1:"},
      {"steps: [ { expect: { status: waiting, status: waiting } } ]", "2:39:"},
      {"input: 1e999\nsteps: [ { expect: { status: waiting } } ]", "2:8:"},
      {"scenarios: [ { scenarios: [], steps: [ { expect: { status: waiting } } ] } ]",
       "2:16: `scenarios` is not known here"},
      {"steps: [ { discard_signal: 5 } ]", "2:28: `discard_signal` takes a signal's name"},
  };
  for (const auto& [text, message] : wrong) {
    const std::string file = write("wrong.test.yaml", "definition: flow.yaml\n" + text + "\n");
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(run_test(std::vector<std::string>{file}, in, out, err), 8) << text;
    EXPECT_NE(err.str().find(message), std::string::npos) << text << "\n" << err.str();
  }
  const std::string back = write("back.test.yaml",
                                 "definition: flow.yaml\n"
                                 "steps: [ { clock: \"2020-01-01T00:00:00Z\", expect: { status: waiting } } ]\n");
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_test(std::vector<std::string>{back}, in, out, err), 1);
  EXPECT_NE(err.str().find("does not go back"), std::string::npos) << err.str();
}

}  // namespace
}  // namespace cairn::cli
