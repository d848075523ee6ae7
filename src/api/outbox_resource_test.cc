// Schedules, dead letters and events through the table of routes, without a socket.
#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "api/api.h"
#include "definition/definition.h"
#include "store/memory/memory_store.h"
#include "stores/forwarding_store.h"

namespace cairn::api {
namespace {

class Routes : public testing::Test {
 protected:
  void SetUp() override {
    store_.keep_events({true, false, false, false});
    auto opened = EngineCore::open(store_, {});
    ASSERT_TRUE(opened.has_value());
    core_ = std::move(*opened);
    const Definition definition = load_definition(
        "cairn: 1\nname: order\nversion: 1.0.0\nsteps:\n"
        "  - signal: { name: payment.received, key: = input.no, result: payment }\noutput: = state.payment\n",
        "order.yaml");
    ASSERT_TRUE(definition.valid());
    ASSERT_TRUE(core_->registry().deploy(definition.program).has_value());
    auto router = Router::make(api_routes(*core_, std::make_shared<InstanceWaiters>(*core_)));
    ASSERT_TRUE(router.has_value()) << router.error().message;
    router_ = std::move(*router);
  }
  int ask(const std::string& method, const std::string& path, const std::string& body = "", Headers headers = {}) {
    Request request;
    request.method = method;
    request.path = path.substr(0, path.find('?'));
    if (const std::size_t query = path.find('?'); query != std::string::npos) {
      const std::string text = path.substr(query + 1);
      request.query.emplace_back(text.substr(0, text.find('=')), text.substr(text.find('=') + 1));
    }
    request.body = body;
    request.headers = std::move(headers);
    if (!body.empty() && request.header("content-type").empty())
      request.headers.emplace_back("content-type", "application/json");
    std::promise<Response> answered;
    router_.handle(std::move(request), Reply([&](Response answer) { answered.set_value(std::move(answer)); }));
    const Response response = answered.get_future().get();
    answer_ = response.body.empty() ? Json() : parse_json(response.body).value_or(Json());
    return response.status;
  }
  std::string start(const std::string& number) {
    StartRequest request;
    request.definition = "order";
    request.input = Json::object({{"no", number}});
    return core_->instances().start(request)->instance.value;
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store_{clock_};
  std::unique_ptr<EngineCore> core_;
  Router router_;
  Json answer_;
};

TEST_F(Routes, AnEventThatComesInIsASignalAppliedOnce) {
  const std::string id = start("A1");
  const std::string event =
      R"({"specversion":"1.0","id":"p-1","source":"/bank","type":"payment.received","subject":"A1","data":{"sum":5}})";
  EXPECT_EQ(ask("POST", "/v1/events", event, {{"content-type", "application/cloudevents+json"}}), 202);
  EXPECT_EQ(answer_["items"].items()[0]["instances"], Json::array({Json(id)}));
  EXPECT_EQ(answer_["items"].items()[0]["repeated"], Json(false));
  core_->due().run_until_idle();
  EXPECT_EQ(store_.find_snapshot({id})->value().output, Json::object({{"sum", 5}}));
  start("A1");
  EXPECT_EQ(ask("POST", "/v1/events", event, {{"content-type", "application/cloudevents+json"}}), 202);
  EXPECT_EQ(answer_["items"].items()[0]["repeated"], Json(true));
  EXPECT_EQ(answer_["items"].items()[0]["instances"].size(), 0u);
}

TEST_F(Routes, BinaryAndBatchedEventsComeInToo) {
  EXPECT_EQ(ask("POST", "/v1/events?ttl=1h", "7",
                {{"content-type", "application/json"},
                 {"ce-specversion", "1.0"},
                 {"ce-id", "1"},
                 {"ce-source", "s"},
                 {"ce-type", "payment.received"},
                 {"ce-subject", "B%202"}}),
            202);
  EXPECT_EQ(answer_["items"].items()[0]["kept"], Json(true));
  const std::string id = start("B 2");
  core_->due().run_until_idle();
  EXPECT_EQ(store_.find_snapshot({id})->value().output, Json(7));
  EXPECT_EQ(ask("POST", "/v1/events", "{}", {{"content-type", "application/cloudevents+json"}}), 422);
  EXPECT_EQ(ask("POST", "/v1/events?ttl=soon", "{}"), 422);
}

TEST_F(Routes, TheOutboxIsListedAndSentAgain) {
  const std::string id = start("A1");
  EXPECT_EQ(ask("GET", "/v1/outbox?instance=" + id), 200);
  ASSERT_EQ(answer_["items"].size(), 1u);
  const Json& event = answer_["items"].items()[0];
  EXPECT_EQ(event["type"], Json("cairn.instance.started"));
  EXPECT_TRUE(event["published_at"].is_string()) << "nobody publishes here";
  const std::string sequence(event["sequence"].as_string());
  EXPECT_EQ(ask("POST", "/v1/outbox/" + sequence + "/resend"), 202);
  EXPECT_EQ(ask("GET", "/v1/outbox?unpublished=true"), 200);
  EXPECT_EQ(answer_["items"].size(), 1u);
  EXPECT_EQ(ask("GET", "/v1/outbox/" + sequence + "/deliveries"), 200);
  EXPECT_EQ(answer_["items"].size(), 1u);
  EXPECT_EQ(ask("POST", "/v1/outbox/999/resend"), 404);
  EXPECT_EQ(ask("POST", "/v1/outbox/x/resend"), 404);
}

TEST_F(Routes, DeadLetters) {
  const std::string id = start("A1");
  const std::int64_t sequence = store_.list_outbox({}, {})->items.at(0).sequence;
  DeadLetter letter;
  letter.kind = "event";
  letter.envelope = Json::object({{"sequence", sequence}});
  const std::string number = std::to_string(*store_.put_dead_letter(letter));
  EXPECT_EQ(ask("GET", "/v1/dead-letters"), 200);
  EXPECT_EQ(answer_["items"].size(), 1u);
  EXPECT_EQ(ask("GET", "/v1/dead-letters/" + number), 200);
  EXPECT_EQ(answer_["kind"], Json("event"));
  EXPECT_EQ(ask("POST", "/v1/dead-letters/" + number + "/replay"), 202);
  EXPECT_FALSE(store_.list_outbox({}, {})->items.at(0).published_at) << "it waits to be published again";
  EXPECT_EQ(ask("GET", "/v1/dead-letters/" + number), 404);
  const std::string other = std::to_string(*store_.put_dead_letter(letter));
  EXPECT_EQ(ask("DELETE", "/v1/dead-letters/" + other), 204);
  EXPECT_EQ(ask("DELETE", "/v1/dead-letters/" + other), 404);
  EXPECT_EQ(ask("POST", "/v1/dead-letters/x/replay"), 404);
}

TEST_F(Routes, Schedules) {
  EXPECT_EQ(ask("POST", "/v1/schedules",
                R"({"name":"nightly","cron":"0 2 * * *","start":{"definition":"order","input":{"no":"N"}}})"),
            201);
  EXPECT_EQ(answer_["next_at"], Json("2023-11-15T02:00:00Z"));
  EXPECT_EQ(ask("POST", "/v1/schedules", R"({"name":"nightly","every":"1h","start":{"definition":"order"}})"), 409);
  EXPECT_EQ(ask("POST", "/v1/schedules", R"({"name":"b","evry":"1h"})"), 422);
  EXPECT_EQ(ask("GET", "/v1/schedules"), 200);
  EXPECT_EQ(answer_["items"].size(), 1u);
  EXPECT_EQ(ask("GET", "/v1/schedules/nightly/preview?count=3"), 200);
  EXPECT_EQ(answer_["items"].size(), 3u);
  EXPECT_EQ(ask("PATCH", "/v1/schedules/nightly", R"({"jitter":"1m","paused":true})", {{"if-match", "\"1\""}}), 200);
  EXPECT_EQ(answer_["paused"], Json(true));
  EXPECT_EQ(answer_["jitter"], Json("PT1M"));
  EXPECT_EQ(ask("PATCH", "/v1/schedules/nightly", R"({"jitter":"2m"})", {{"if-match", "\"1\""}}), 412);
  EXPECT_EQ(ask("POST", "/v1/schedules/nightly/trigger"), 202);
  EXPECT_EQ(answer_["last"]["instance"], Json("nightly@2023-11-14T22:13:20Z"));
  EXPECT_EQ(ask("POST", "/v1/schedules/nightly/resume"), 200);
  EXPECT_EQ(answer_["paused"], Json(false));
  EXPECT_EQ(ask("DELETE", "/v1/schedules/nightly"), 204);
  EXPECT_EQ(ask("GET", "/v1/schedules/nightly"), 404);
}

// Refuses commits like a store with an unavailable database.
class AwayStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<CommitOutcome>> commit(std::span<const Unit> units) override {
    if (away) return Error{ErrorCode::unavailable, "the database is away"};
    return ForwardingStore::commit(units);
  }
  std::vector<Result<RunChanged>> change_runs(std::span<const RunChange> changes) override {
    if (!away) return ForwardingStore::change_runs(changes);
    return {changes.size(), Error{ErrorCode::unavailable, "the database is away"}};
  }
  std::atomic<bool> away = false;
};

TEST(RunRoutes, AReportThatTheStoreCouldNotTakeMayBeSentAgain) {
  ManualClock clock{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore memory(clock);
  AwayStore store(memory);
  auto core = EngineCore::open(store, {});
  ASSERT_TRUE(core.has_value());
  auto router = Router::make(api_routes(**core, std::make_shared<InstanceWaiters>(**core)));
  ASSERT_TRUE(router.has_value());
  bool partial = false;
  const auto ask = [&router, &partial](const std::string& path, const std::string& body) {
    Request request;
    request.method = "POST";
    request.path = path;
    request.body = body;
    request.headers.emplace_back("content-type", "application/json");
    std::promise<Json> answered;
    router->handle(std::move(request), Reply([&answered, &partial](const Response& response) {
                     if (response.receipt) response.receipt->done();
                     partial = response.partial;
                     answered.set_value(parse_json(response.body).value_or(Json()));
                   }));
    return answered.get_future().get();
  };
  RunRow run;
  run.id = {"00000000-0000-4000-8000-000000000001"};
  run.type = "t";
  ASSERT_TRUE(store.submit_run(run));
  const Json leased = ask("/v1/runs/lease", R"({"worker":"w","types":["t"]})")["items"].items().front();
  const std::string named = R"("id":")" + run.id.value + R"(","fence":)" + write_json(leased["fence"]);
  const std::string report = R"({"reports":[{)" + named + R"(,"result":7}]})";
  store.away = true;
  const Json refused = ask("/v1/runs/report", report)["items"].items().front();
  EXPECT_EQ(refused["outcome"], Json("error"));
  EXPECT_EQ(refused["retryable"], Json(true));
  EXPECT_TRUE(partial) << "not kept under an Idempotency-Key";
  const std::string beat = R"({"runs":[{)" + named + R"(,"lease":"60s"}]})";
  EXPECT_EQ(ask("/v1/runs/heartbeat", beat)["items"].items().front()["outcome"], Json("error"));
  EXPECT_TRUE(partial);
  store.away = false;
  const Json kept = ask("/v1/runs/heartbeat", beat)["items"].items().front();
  EXPECT_EQ(kept["outcome"], Json("kept"));
  EXPECT_EQ(kept["lease_ms"], Json(60'000));
  EXPECT_FALSE(partial);
  EXPECT_EQ(ask("/v1/runs/report", report)["items"].items().front()["outcome"], Json("finished"));
  const Json late = ask("/v1/runs/release", R"({"runs":[{)" + named + R"(}]})")["items"].items().front();
  EXPECT_EQ(late["outcome"], Json("lease_lost"));
}

TEST(RunRoutes, WhatCouldNotBeDeliveredIsReleased) {
  ManualClock clock{Timestamp::of_unix_ms(1'700'000'000'000)};
  MemoryStore store(clock);
  auto core = EngineCore::open(store, {});
  ASSERT_TRUE(core.has_value());
  auto router = Router::make(api_routes(**core, std::make_shared<InstanceWaiters>(**core)));
  ASSERT_TRUE(router.has_value());
  RunRow run;
  run.id = {"00000000-0000-4000-8000-000000000001"};
  run.type = "t";
  ASSERT_TRUE(store.submit_run(run));
  Request request;
  request.method = "POST";
  request.path = "/v1/runs/lease";
  request.body = R"({"worker":"w","types":["t"]})";
  request.headers.emplace_back("content-type", "application/json");
  // The connection is gone: the response is dropped.
  router->handle(std::move(request), Reply([](const Response& response) { EXPECT_EQ(response.status, 200); }));
  (*core)->leasing().waiters().stop();
  EXPECT_EQ((*store.find_run(run.id))->status, RunStatus::pending);
  EXPECT_EQ((*store.find_run(run.id))->attempt, 0);
}

}  // namespace
}  // namespace cairn::api
