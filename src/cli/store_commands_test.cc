// The commands on a local store, one after the other as a person types them.
#include <fstream>

#include "cli/command_fixture_test.h"

namespace cairn::cli {
namespace {

class StoreCommands : public LocalStoreTest {
 protected:
  void SetUp() override {
    std::ofstream(folder_ + "/order.yaml") << R"(
cairn: 1
name: order
version: 1.0.0
reference: { key: = input.no }
steps:
  - task: { name: Review, roles: [clerk], result: review }
  - signal: { name: paid, key: = input.no, result: payment }
output: { payment: = state.payment }
)";
  }

  std::string started() {
    EXPECT_EQ(run({"start", folder_ + "/order.yaml", "--input", R"({"no": "A1"})", "--json"}), 0) << err_.str();
    return std::string(json().text_or("id", ""));
  }
};

TEST_F(StoreCommands, FollowAnInstanceFromStartToEnd) {
  const std::string id = started();
  ASSERT_EQ(run({"why", id}), 0);
  EXPECT_NE(out_.str().find("clerk"), std::string::npos);
  ASSERT_EQ(run({"tasks", "--json"}), 0);
  const std::string task(json()["items"].items().at(0).text_or("id", ""));
  ASSERT_EQ(run({"task", "assign", task, "--to", "ann"}), 0) << err_.str();
  ASSERT_EQ(run({"task", "complete", task, "--as", "ann", "--payload", R"({"ok": true})"}), 0) << err_.str();
  EXPECT_EQ(run({"task", "complete", task, "--as", "ann"}), 6);
  ASSERT_EQ(run({"signal", "paid", "--key", "A1", "--payload", "5"}), 0) << err_.str();
  ASSERT_EQ(run({"show", id, "--json"}), 0);
  EXPECT_EQ(json()["status"], Json("completed"));
  EXPECT_EQ(json()["output"], Json::object({{"payment", 5}}));
  ASSERT_EQ(run({"history", id, "--json"}), 0);
  EXPECT_GE(json()["items"].size(), 4u);
  EXPECT_EQ(run({"verify"}), 0) << out_.str();
  EXPECT_EQ(run({"cancel", id}), 6);
  // Without a server, no user is authenticated (docs/security.md).
  ASSERT_EQ(run({"audit", "list", "--json"}), 0);
  EXPECT_EQ(json()["items"].size(), 0u);
}

TEST_F(StoreCommands, DrawDefinitionsAndInstances) {
  const std::string id = started();
  ASSERT_EQ(run({"render", "order", "--format", "txt"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "☺ Review\n✉ paid\n");
  ASSERT_EQ(run({"render", id, "--format", "txt"}), 0) << err_.str();
  EXPECT_EQ(out_.str(), "◷ ☺ Review  waiting for Review\n· ✉ paid\n");
  ASSERT_EQ(run({"show", id}), 0) << err_.str();
  EXPECT_NE(out_.str().find("◷ ☺ Review  waiting for Review\n· ✉ paid\n"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("reference A1"), std::string::npos) << out_.str();
  EXPECT_EQ(run({"render", "nobody"}), 3);
  ASSERT_EQ(run({"tasks", "--json"}), 0);
  const std::string task(json()["items"].items().at(0).text_or("id", ""));
  ASSERT_EQ(run({"task", "complete", task}), 0) << err_.str();
  ASSERT_EQ(run({"render", id, "--format", "txt"}), 0) << err_.str();
  EXPECT_TRUE(out_.str().starts_with("✓ ☺ Review")) << out_.str();
  EXPECT_NE(out_.str().find("waiting for paid\n"), std::string::npos) << out_.str();
  ASSERT_EQ(run({"cancel", id}), 0) << err_.str();
  ASSERT_EQ(run({"render", id, "--format", "svg"}), 0) << err_.str();
  EXPECT_NE(out_.str().find("data-state=\"done\""), std::string::npos);
}

TEST_F(StoreCommands, SayWhatIsWrong) {
  EXPECT_EQ(run({"list"}), 3) << "there is no store yet, and looking does not make one";
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/store.db"));
  started();
  EXPECT_EQ(run({"show", "nobody"}), 3);
  EXPECT_EQ(run({"why", "nobody"}), 3);
  EXPECT_EQ(run({"start", "ordre"}), 3);
  EXPECT_NE(err_.str().find("did you mean order"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"list", "--status", "asleep"}), 2);
  EXPECT_EQ(run({"task", "juggle", "x"}), 2);
  EXPECT_EQ(run({"dead", "replay", "1"}), 3);
}

TEST_F(StoreCommands, SuspendResumeAndCancel) {
  const std::string id = started();
  EXPECT_EQ(run({"suspend", id, "--reason", "audit"}), 0) << err_.str();
  EXPECT_EQ(run({"retry", id}), 6) << "there is no failed step";
  EXPECT_EQ(run({"resume", id}), 0) << err_.str();
  EXPECT_EQ(run({"cancel", id}), 0) << err_.str();
  EXPECT_EQ(run({"list", "--status", "cancelled", "--json"}), 0);
  EXPECT_EQ(json()["items"].size(), 1u);
  EXPECT_EQ(run({"tasks", "--json"}), 0);
  EXPECT_EQ(json()["items"].size(), 0u);
}

TEST_F(StoreCommands, WhyTellsWhoOrWhatUnblocksEachKindOfWait) {
  std::ofstream(folder_ + "/child.yaml") << R"(
cairn: 1
name: child
version: 1.0.0
steps: [ { id: bad, set: { x: = state.nope } } ]
)";
  std::ofstream(folder_ + "/waits.yaml") << R"(
cairn: 1
name: waits
version: 1.0.0
steps:
  - parallel:
      branches:
        t: [ { id: ask, task: { name: Ask, exclude: [bob], deadline: { after: 1h, steps: [] }, remind: [10m] } } ]
        s: [ { id: sig, signal: { name: paid, key: "it's", where: signal.ok, timeout: 2h } } ]
        w: [ { id: nap, wait: 1d } ]
        c: [ { id: bill, call: { worker: { type: bill.v1 } } } ]
        k: [ { id: kid, subworkflow: { name: child } } ]
        f: [ { id: race, first: [ { task: { name: Or, remind: [20m] } }, { wait: 3h } ] } ]
)";
  ASSERT_EQ(run({"definitions", "deploy", folder_ + "/child.yaml", folder_ + "/waits.yaml"}), 0) << err_.str();
  ASSERT_EQ(run({"start", "waits", "--id", "w-1"}), 0) << err_.str();
  ASSERT_EQ(run({"why", "w-1", "--json"}), 0) << err_.str();
  const Json told = json();
  std::vector<std::string> sentences;
  std::vector<std::string> commands;
  std::string child;
  std::string task;
  for (const Json& reason : told["reasons"].items()) {
    std::string text(reason.text_or("reason", ""));
    EXPECT_FALSE(reason.text_or("since", "").empty()) << text;
    if (reason.text_or("kind", "") == "subworkflow") child = std::string(reason.text_or("command", "")).substr(10);
    if (reason.text_or("step", "") == "ask" && task.empty()) task = reason.text_or("command", "");
    // Times and ids differ from run to run.
    if (const auto at = text.find(" 20"); at != std::string::npos) text.resize(at);
    if (const auto id = text.find(", instance "); id != std::string::npos) text.erase(id, 11 + child.size());
    sentences.push_back(text);
    commands.emplace_back(std::string(reason.text_or("command", "")).substr(0, 14));
  }
  EXPECT_EQ(sentences,
            (std::vector<std::string>{"Step ask waits for any person, but not bob, to complete the task Ask",
                                      "Step ask has its deadline at", "Step ask reminds of its task at",
                                      "Step sig waits for the signal paid with the key it's where `signal.ok` is true",
                                      "Step sig stops waiting for its signal at", "Step nap waits until",
                                      "Step bill waits for a worker that handles bill.v1",
                                      "Step kid waits for the subworkflow child, which is suspended",
                                      "Step race waits for any person to complete the task Or",
                                      "Step race reminds of its task at", "Step race waits until"}));
  EXPECT_EQ(commands, (std::vector<std::string>{"cairn task com", "", "", "cairn signal w", "", "", "cairn runs sho",
                                                "cairn why " + child.substr(0, 4), "cairn task com", "", ""}));
  EXPECT_EQ(told["reasons"].items()[3].text_or("command", ""),
            "cairn signal w-1 paid --key 'it'\\''s' --payload '{…}'");

  ASSERT_EQ(run({"why", child}), 0);
  EXPECT_NE(out_.str().find("incident at step bad: no_such_key"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("\n  cairn retry " + child + " --store"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("\n  or: cairn skip " + child + " --store"), std::string::npos) << out_.str();

  ASSERT_EQ(run({"suspend", "w-1", "--reason", "night work"}), 0) << err_.str();
  ASSERT_EQ(run({"why", "w-1"}), 0);
  EXPECT_TRUE(out_.str().starts_with("It was suspended by cli: night work (for ")) << out_.str();
  EXPECT_NE(out_.str().find("\n  cairn resume w-1 --store"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("After it is resumed, step nap waits until"), std::string::npos) << out_.str();
  EXPECT_EQ(out_.str().find("cairn task complete"), std::string::npos) << "it would be refused: " << out_.str();
  ASSERT_EQ(run({"cancel", "w-1", "--reason", "enough"}), 0) << err_.str();
  ASSERT_EQ(run({"why", "w-1"}), 0);
  EXPECT_TRUE(out_.str().starts_with("It is cancelled (cancelled: enough) and waits for nothing")) << out_.str();
}

TEST_F(StoreCommands, AKeptSignalCanBeDiscarded) {
  const std::string id = started();
  ASSERT_EQ(run({"signal", id, "paid", "--key", "A1", "--payload", "1", "--id", "wrong"}), 0) << err_.str();
  ASSERT_EQ(run({"signal", id, "--discard", "wrong"}), 0) << err_.str();
  EXPECT_NE(run({"signal", id, "--discard", "wrong"}), 0);
  EXPECT_NE(err_.str().find("keeps no signal wrong"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"signal", "--discard", "wrong"}), 2);
  ASSERT_EQ(run({"tasks", "--json"}), 0);
  const std::string task(json()["items"].items().at(0).text_or("id", ""));
  ASSERT_EQ(run({"task", "complete", task, "--as", "ann", "--payload", R"({"ok": true})"}), 0) << err_.str();
  ASSERT_EQ(run({"show", id, "--json"}), 0);
  EXPECT_EQ(json()["status"], Json("waiting")) << "the signal is gone";
}

TEST_F(StoreCommands, AnEarlySignalIsKept) {
  started();
  ASSERT_EQ(run({"signal", "paid", "--key", "B2", "--payload", "1", "--json"}), 0);
  EXPECT_EQ(json()["kept"], Json(true));
}

}  // namespace
}  // namespace cairn::cli
