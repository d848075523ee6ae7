// Repeats of changes to runs whose answer was not kept: the server died, or lost its store, between the commit of the
// change and the commit of its answer. The repeat must get the first answer all the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/api.h"
#include "base/clock.h"
#include "definition/definition.h"
#include "http/socket_client_test.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn::api {
namespace {

// Keeps no HTTP answer. It can also refuse the changes of one run.
class ForgetfulStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    std::vector<CommitOutcome> outcomes;
    for (const Unit& unit : units) {
      const bool refused = (unit.key && unit.key->scope == "http") || (unit.run && unit.run->run == away);
      if (refused) {
        outcomes.push_back(outcome_of(CommitOutcome::Kind::failed, Error{ErrorCode::unavailable, "away"}));
      } else {
        CAIRN_TRY(auto written, ForwardingStore::commit({&unit, 1}));
        outcomes.push_back(std::move(written.front()));
      }
    }
    return outcomes;
  }
  RunId away;
};

constexpr const char* calling = R"(
cairn: 1
name: calling
version: 1.0.0
steps:
  - call: { worker: { type: demo.called.v1, payload: {} }, result: answer, on_failure: [ { set: { failed: true } } ] }
output: = state
)";

struct Answer {
  std::string status;
  std::string body;
  bool replayed = false;
};

class RepeatedReports : public testing::Test {
 protected:
  void SetUp() override {
    EventPolicy incidents;
    incidents.incidents = true;
    behind_.keep_events(incidents);
    core_ = std::move(*EngineCore::open(store_, {}));
    ASSERT_TRUE(core_->registry().deploy(load_definition(calling, "test.yaml").program));
    ServerSettings settings;
    settings.http.port = 0;
    settings.access.required = false;
    auto server = Server::open(*core_, settings);
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = std::move(*server);
  }
  void TearDown() override {
    core_->leasing().waiters().stop();
    server_.reset();
    core_.reset();
  }

  Answer post(const std::string& path, const Json& body, const std::string& key) {
    const std::string text = write_json(body);
    http::Client client(server_->port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                (key.empty() ? "" : "Idempotency-Key: " + key + "\r\n") + "Content-Type: application/json\r\n" +
                "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
    const std::string all = client.receive_all();
    Answer answer;
    answer.status = all.substr(std::min<std::size_t>(9, all.size()), 3);
    answer.body = all.substr(std::min(all.find("\r\n\r\n"), all.size()));
    answer.replayed = all.find("idempotency-replayed: true") < all.size() - answer.body.size();
    return answer;
  }
  // The answer to both requests is the same; the second one says that it is a repeat.
  std::string expect_repeat(const std::string& path, const Json& body) {
    const std::string key = "k" + std::to_string(++keys_);
    const Answer first = post(path, body, key);
    EXPECT_EQ(first.status, "200") << first.body;
    EXPECT_FALSE(first.replayed);
    const Answer second = post(path, body, key);
    EXPECT_EQ(second.status, first.status) << path << second.body;
    EXPECT_EQ(second.body, first.body) << path;
    EXPECT_TRUE(second.replayed) << path;
    return first.body;
  }
  // A leased run, of an instance or alone.
  RunRow run(bool called) {
    if (called) {
      StartRequest request;
      request.definition = "calling";
      EXPECT_TRUE(core_->instances().start(request));
    } else {
      RunRequest request;
      request.type = "demo.alone.v1";
      EXPECT_TRUE(core_->runs().submit(request));
    }
    const auto leased = store_.lease_runs({"w", {"demo."}, {}, 1, Duration::of_seconds(60)});
    EXPECT_EQ(leased->size(), 1u);
    return leased->front();
  }
  std::size_t lost_leases() {
    core_->stop();  // writes what was submitted
    const auto rows = store_.list_outbox({}, {});
    if (!rows) return 1000;
    return static_cast<std::size_t>(std::count_if(rows->items.begin(), rows->items.end(), [](const OutboxRow& row) {
      return row.event.type == "cairn.run.lease_lost";
    }));
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore behind_{clock_};
  ForgetfulStore store_{behind_};
  std::unique_ptr<EngineCore> core_;
  std::unique_ptr<Server> server_;
  int keys_ = 0;
};

std::string path_of(const RunRow& run, const char* verb) { return "/v1/runs/" + run.id.value + "/" + verb; }
Json fence_of(const RunRow& run) { return Json(static_cast<std::int64_t>(run.fence)); }

TEST_F(RepeatedReports, GetTheFirstOutcome) {
  for (const bool called : {false, true}) {
    RunRow one = run(called);
    EXPECT_NE(expect_repeat(path_of(one, "complete"), Json::object({{"fence", fence_of(one)}, {"result", 1}}))
                  .find("\"finished\""),
              std::string::npos);
    one = run(called);
    const Json failure = Json::object({{"code", "busy"}});
    const Json failed = Json::object({{"fence", fence_of(one)}, {"error", failure}});
    EXPECT_NE(expect_repeat(path_of(one, "fail"), failed).find("\"will_retry\""), std::string::npos);
    one = run(called);
    const Json useless = Json::object({{"fence", fence_of(one)}, {"error", failure}, {"retry", false}});
    EXPECT_NE(expect_repeat(path_of(one, "fail"), useless).find("\"finished\""), std::string::npos);
    // Another worker has the run by now.
    one = run(called);
    const Json late = Json::object({{"fence", fence_of(one)}, {"error", failure}, {"delay", "1s"}});
    const Answer first = post(path_of(one, "fail"), late, "late");
    clock_.advance(Duration::of_seconds(2));
    EXPECT_FALSE(store_.lease_runs({"other", {"demo."}, {}, 10, Duration::of_seconds(600)})->empty());
    const Answer again = post(path_of(one, "fail"), late, "late");
    EXPECT_EQ(again.status + again.body, first.status + first.body);
    EXPECT_TRUE(again.replayed);
  }
  EXPECT_EQ(lost_leases(), 0u);
}

TEST_F(RepeatedReports, OfAnotherRequestOrWithoutAKeyAreLate) {
  const RunRow one = run(true);
  const Json body = Json::object({{"fence", fence_of(one)}, {"result", 1}});
  EXPECT_EQ(post(path_of(one, "complete"), body, "k").status, "200");
  EXPECT_EQ(post(path_of(one, "complete"), body, "").status, "409");
  EXPECT_EQ(post(path_of(one, "complete"), body, "other").status, "409");
  const Json another = Json::object({{"fence", fence_of(one)}, {"result", 2}});
  EXPECT_EQ(post(path_of(one, "complete"), another, "k").status, "409") << "the same key with another result";
}

TEST_F(RepeatedReports, OfManyRunsGetTheFirstOutcomes) {
  Json reports = Json::array();
  std::vector<RunRow> runs;
  for (int i = 0; i < 40; ++i) {
    runs.push_back(run(i % 2 == 0));
    Json report = Json::object({{"id", runs.back().id.value}, {"fence", fence_of(runs.back())}});
    if (i % 3 == 0) report.set("error", Json::object({{"code", "busy"}}));
    reports.push_back(std::move(report));
  }
  reports.push_back(Json::object({{"id", runs[1].id.value}, {"fence", 1}}));  // never held
  const std::string body = expect_repeat("/v1/runs/report", Json::object({{"reports", reports}}));
  for (const char* outcome : {"\"finished\"", "\"will_retry\"", "\"lease_lost\""}) {
    EXPECT_NE(body.find(outcome), std::string::npos) << outcome;
  }
}

TEST_F(RepeatedReports, OfAPartlyFailedBatchTryOnlyTheOthersAgain) {
  const RunRow fine = run(false), held = run(false);
  Json reports = Json::array();
  for (const RunRow& run : {fine, held}) {
    reports.push_back(Json::object({{"id", run.id.value}, {"fence", fence_of(run)}, {"result", 1}}));
  }
  const Json body = Json::object({{"reports", reports}});
  store_.away = held.id;
  const Answer first = post("/v1/runs/report", body, "k");
  EXPECT_NE(first.body.find("\"retryable\":true"), std::string::npos) << first.body;
  store_.away = {};
  const Answer second = post("/v1/runs/report", body, "k");
  EXPECT_EQ(second.body.find("lease_lost"), std::string::npos) << second.body;
  EXPECT_EQ(second.body.find("error"), std::string::npos) << second.body;
  EXPECT_FALSE(second.replayed) << "it ended a run";
  const Answer third = post("/v1/runs/report", body, "k");
  EXPECT_EQ(third.body, second.body);
  EXPECT_TRUE(third.replayed);
}

TEST_F(RepeatedReports, ReleasesAndCancellationsAreDoneOnce) {
  const RunRow released = run(false);
  const Json fence = Json::object({{"fence", fence_of(released)}});
  expect_repeat(path_of(released, "release"), fence);
  const RunRow other = run(false);
  ASSERT_EQ(other.id, released.id);
  const Answer late = post(path_of(released, "release"), fence, "k1");
  EXPECT_EQ(late.status, "200") << late.body;
  EXPECT_EQ(late.body.find("\"fence\""), std::string::npos) << "only the holder may know it: " << late.body;
  EXPECT_EQ(store_.find_run(other.id)->value().status, RunStatus::leased);

  const Json many =
      Json::object({{"runs", Json::array({Json::object({{"id", other.id.value}, {"fence", fence_of(other)}})})}});
  EXPECT_NE(expect_repeat("/v1/runs/release", many).find("\"released\""), std::string::npos);

  for (const bool called : {false, true}) {
    const RunRow one = called ? run(true) : other;
    const Answer cancelled = post(path_of(one, "cancel"), Json::object({}), "c");
    EXPECT_EQ(cancelled.status, "200") << cancelled.body;
    const Answer again = post(path_of(one, "cancel"), Json::object({}), "c");
    EXPECT_EQ(again.status + again.body, cancelled.status + cancelled.body);
    EXPECT_EQ(post(path_of(one, "cancel"), Json::object({}), "d").status, "409");
  }
}

}  // namespace
}  // namespace cairn::api
