// Programs that use SQL: whatever they write into a run or keep locked, instances continue.
#include <thread>

#include "postgres/cluster_fixture.h"

namespace cairn {
namespace {

constexpr const char* one_call = R"(
cairn: 1
name: plain
version: 1.0.0
steps:
  - call: { worker: { type: default.sql.v1 }, result: r }
output: = state.r
)";
constexpr const char* caught_call = R"(
cairn: 1
name: caught
version: 1.0.0
steps:
  - try:
      - call: { worker: { type: default.sql.v1 }, result: r }
    catch:
      - steps:
          - set: { code: = error.code, details: = error.details }
output: = state
)";

class SqlClients : public Cluster {
 protected:
  void lease(const InstanceId& id) {
    sql("UPDATE " + schema_ +
        ".workflow_run SET status = 'leased', leased_by = 'me', lease_until = now() + interval "
        "'60 s' WHERE instance = '" +
        id.value + "'");
  }
  void end(const InstanceId& id, const std::string& how) {
    lease(id);
    sql("UPDATE " + schema_ + ".workflow_run SET " + how + " WHERE instance = '" + id.value + "'");
  }
  void lock_runs() { sql("BEGIN; SELECT 1 FROM " + schema_ + ".workflow_run FOR UPDATE"); }
  auto resting(Engine& node, const InstanceId& id) {
    const auto end = node.wait(id, 30s);
    EXPECT_TRUE(end.has_value()) << (end ? "" : end.error().message);
    return *end;
  }
};

const std::string deep = "'" + std::string(600, '[') + std::string(600, ']') + "'";

TEST_F(SqlClients, AResultThatCannotBeReadFailsTheCall) {
  Engine& a = node("a");
  a.run();
  deploy(a, one_call);
  deploy(a, caught_call);
  for (const std::string& result : {std::string("'1e400'"), deep}) {
    const InstanceId stopped = start(a, "plain");
    end(stopped, "status = 'succeeded', result = " + result);
    const auto state = resting(a, stopped);
    EXPECT_EQ(state.status, Status::suspended);
    ASSERT_TRUE(state.error.has_value());
    EXPECT_EQ(state.error->code, "unreadable") << state.error->message;
    const InstanceId caught = start(a, "caught");
    end(caught, "status = 'succeeded', result = " + result);
    EXPECT_EQ(resting(a, caught).output["code"], Json("unreadable"));
  }
  // A failure keeps its code and loses its details.
  const InstanceId failed = start(a, "caught");
  end(failed, "status = 'failed', error = '{\"code\": \"x\", \"details\": 1e400}'");
  EXPECT_EQ(resting(a, failed).output["code"], Json("x"));
  EXPECT_EQ(sql("SELECT count(*) FROM " + schema_ + ".wf_dlq_q"), "0");
}

TEST_F(SqlClients, TimesAndPeriodsWithoutBoundsStopNothing) {
  Engine& a = node("a");
  a.run();
  deploy(a, one_call);
  sql("INSERT INTO " + schema_ + ".workflow_run (type, run_at) VALUES ('default.odd.v1', 'infinity')");
  sql("INSERT INTO " + schema_ + ".workflow_run (type, timeout_ms) VALUES ('default.odd.v1', 9223372036854775807)");
  LeaseRequest request;
  request.worker = "w";
  request.types = {"default.odd.v1"};
  request.max = 5;
  request.length = Duration::of_seconds(60);
  const auto leased = a.core().store().lease_runs(request);
  ASSERT_TRUE(leased) << leased.error().message;
  EXPECT_EQ(leased->size(), 1u);
  sql("UPDATE " + schema_ +
      ".workflow_run SET lease_until = 'infinity' WHERE type = 'default.odd.v1' AND status = 'leased'");
  sql("UPDATE " + schema_ +
      ".workflow_run SET run_at = '-infinity' WHERE type = 'default.odd.v1' AND status = 'pending'");
  const InstanceId id = start(a, "plain");
  end(id, "status = 'succeeded', result = '1'");
  EXPECT_EQ(resting(a, id).status, Status::completed);
}

// Deeper than cairn allows, but not so deep that it cannot be read.
TEST_F(SqlClients, AResultBeyondTheLimitsFailsTheCall) {
  Engine& a = node("a");
  a.run();
  deploy(a, caught_call);
  const InstanceId id = start(a, "caught");
  end(id, "status = 'succeeded', result = '" + std::string(505, '[') + std::string(505, ']') + "'");
  EXPECT_EQ(resting(a, id).output["code"], Json("invalid_result"));
}

constexpr const char* first_of_two = R"(
cairn: 1
name: first
version: 1.0.0
steps:
  - parallel:
      join: any
      branches:
        a: [ { call: { worker: { type: default.sql.v1 } } } ]
        b: [ { wait: = input.pause } ]
)";
constexpr const char* a_pause = R"(
cairn: 1
name: pause
version: 1.0.0
steps:
  - wait: = input.pause
)";

Json pause(const std::string& length) { return Json::object({{"pause", length}}); }

// The timer of an instance ends its other branch, whose run a program keeps locked.
TEST_F(SqlClients, ALockedRunDelaysOnlyTheInstanceThatMustCancelIt) {
  Engine& a = node("a");
  a.run();
  deploy(a, first_of_two);
  deploy(a, a_pause);
  const InstanceId blocked = start(a, "first", pause("PT0.1S"));
  lock_runs();
  const auto begun = std::chrono::steady_clock::now();
  std::vector<InstanceId> others;
  for (int i = 0; i < 100; ++i) {
    others.push_back(start(a, "pause", pause("PT0." + std::to_string(100 + 5 * i) + "S")));
  }
  for (const InstanceId& id : others) expect_completed(a, id);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s) << "a commit waits 20 s for other locks";
  EXPECT_EQ(a.find(blocked)->status, Status::waiting);
  sql("ROLLBACK");
  expect_completed(a, blocked);
}

TEST_F(SqlClients, AnOperatorIsToldThatARunIsLocked) {
  Engine& a = node("a");
  a.run();
  deploy(a, first_of_two);
  deploy(a, a_pause);
  const InstanceId blocked = start(a, "first", pause("PT1H"));
  lock_runs();
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::jthread> operators;
  for (int i = 0; i < 3; ++i) {
    operators.emplace_back([&] {
      const auto refused = a.cancel(blocked, "no longer needed");
      ASSERT_FALSE(refused.has_value());
      EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
      EXPECT_NE(refused.error().message.find("is locked by another transaction"), std::string::npos)
          << refused.error().message;
    });
  }
  for (int i = 0; i < 100; ++i) start(a, "pause", pause("PT1H"));
  operators.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s) << "a commit waits 20 s for other locks";
  sql("ROLLBACK");
  ASSERT_TRUE(a.cancel(blocked, "no longer needed").has_value());
  EXPECT_EQ(a.find(blocked)->status, Status::cancelled);
}

// The same for a row of the instance itself.
TEST_F(SqlClients, ALockedInstanceDelaysNoOther) {
  Engine& a = node("a");
  a.run();
  deploy(a, a_pause);
  const InstanceId blocked = start(a, "pause", pause("PT0.1S"));
  sql("BEGIN; SELECT 1 FROM " + schema_ + ".wf_instances_base WHERE id = '" + blocked.value + "' FOR UPDATE");
  const auto begun = std::chrono::steady_clock::now();
  std::vector<InstanceId> others;
  for (int i = 0; i < 20; ++i) others.push_back(start(a, "pause", pause("PT0.2S")));
  for (const InstanceId& id : others) expect_completed(a, id);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 8s);
  sql("ROLLBACK");
  expect_completed(a, blocked);
}

}  // namespace
}  // namespace cairn
