// Programs that use SQL: whatever they write into a run, instances go on.
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

// Deeper than cairn allows, but not so deep that it cannot be read.
TEST_F(SqlClients, AResultBeyondTheLimitsFailsTheCall) {
  Engine& a = node("a");
  a.run();
  deploy(a, caught_call);
  const InstanceId id = start(a, "caught");
  end(id, "status = 'succeeded', result = '" + std::string(505, '[') + std::string(505, ']') + "'");
  EXPECT_EQ(resting(a, id).output["code"], Json("invalid_result"));
}

}  // namespace
}  // namespace cairn
