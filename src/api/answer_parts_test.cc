// The small parts of an answer: compression, traces, leased runs, repeats, metrics, foreign pages.
#include <gtest/gtest.h>
#include <zlib.h>

#include <future>
#include <latch>
#include <thread>

#include "api/access/identity.h"
#include "api/access/origin.h"
#include "api/api.h"
#include "api/documents.h"
#include "api/idempotent_answers.h"
#include "api/telemetry/liveness.h"
#include "api/telemetry/metrics.h"
#include "api/telemetry/trace_context.h"
#include "api/telemetry/workflow_metrics.h"
#include "base/clock.h"
#include "http/gzip.h"
#include "instance/trace_id.h"
#include "store/memory/memory_store.h"
#include "stores/held_store.h"

namespace cairn::api {
namespace {

std::string header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return {};
}

TEST(LeasedDocument, IsTheDocumentOfTheRunWithLeaseAndTrace) {
  RunRow run;
  run.id = {"r-1"};
  run.type = "a.b\n\"c\".v1";
  run.status = RunStatus::leased;
  run.payload = Json::object({{"n", 1}, {"list", Json::array({true, nullptr, 1.5})}});
  run.attempt = 2;
  run.fence = 7;
  run.instance = InstanceId{"i-1"};
  run.error = Json::object({{"code", "late"}});
  run.leased_by = "w";
  run.lease_until = Timestamp{1'000, 500'000'000};
  const RunRow runs[] = {run, run};
  const auto document_of_both = parse_json(leased_document(runs, Timestamp{990, 0}));
  ASSERT_TRUE(document_of_both) << document_of_both.error().message;
  Json expected = document(run);
  expected.set("lease_ms", 10'500);
  expected.set("traceparent", traceparent_of(std::string_view(), run.instance, run.id, run.attempt));
  EXPECT_EQ(*document_of_both, Json::object({{"items", Json::array({expected, expected})}}));
  const auto nothing = parse_json(leased_document({}, Timestamp{990, 0}));
  ASSERT_TRUE(nothing);
  EXPECT_EQ(*nothing, Json::object({{"items", Json::array()}}));
}

TEST(Gzip, ALargeAnswerIsSmallerAndTheSame) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "{\"n\":" + std::to_string(i) + "}";
  Response response(200, "application/json", {}, text);
  compress(response, "br, gzip;q=0.8");
  EXPECT_EQ(header(response, "content-encoding"), "gzip");
  ASSERT_LT(response.body.size(), text.size() / 3);
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string back(text.size() + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(response.body.data());
  stream.avail_in = static_cast<uInt>(response.body.size());
  stream.next_out = reinterpret_cast<Bytef*>(back.data());
  stream.avail_out = static_cast<uInt>(back.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  back.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_EQ(back, text);
}

TEST(Gzip, OnlyForThoseWhoAskAndOnlyWhenItIsWorthIt) {
  const std::string large(100'000, 'x');
  for (const char* accepted : {"", "identity", "gzip;q=0", "deflate"}) {
    Response response(200, "application/json", {}, large);
    compress(response, accepted);
    EXPECT_EQ(response.body, large) << accepted;
    EXPECT_EQ(header(response, "vary"), "accept-encoding");
  }
  Response small(200, "application/json", {}, "{}");
  compress(small, "gzip");
  EXPECT_EQ(small.body, "{}");
  Response picture(200, "image/png", {}, large);
  compress(picture, "gzip");
  EXPECT_EQ(picture.body, large);
}

TEST(TraceContext, GoesOnWithAGoodOneAndBeginsAnewOtherwise) {
  const TraceContext on = trace_of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
  EXPECT_EQ(on.trace, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(on.parent, "b7ad6b7169203331");
  EXPECT_NE(on.span, on.parent);
  EXPECT_TRUE(on.sampled);
  EXPECT_EQ(on.header(), "00-0af7651916cd43dd8448eb211c80319c-" + on.span + "-01");
  EXPECT_FALSE(trace_of("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02").sampled);
  for (const char* bad : {"", "00", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                          "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                          "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
                          "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"}) {
    const TraceContext fresh = trace_of(bad);
    EXPECT_EQ(fresh.parent, "") << bad;
    EXPECT_EQ(fresh.trace.size(), 32u);
    EXPECT_NE(fresh.trace, "0af7651916cd43dd8448eb211c80319c") << bad;
  }
}

TEST(IdempotentAnswers, ARepeatGetsTheFirstAnswerAlsoOnAnotherNode) {
  SystemClock clock;
  MemoryStore store(clock);
  const auto core = EngineCore::open(store, {});
  ASSERT_TRUE(core);
  IdempotentAnswers answers(**core);
  IdempotentAnswers elsewhere(**core);
  const auto end = [](IdempotentAnswers& of, const char* scope, const Response& answer) {
    std::promise<Response> sent;
    of.end(scope, "h1", answer, [&sent](Response response) { sent.set_value(std::move(response)); });
    return sent.get_future().get();
  };
  using Found = IdempotentAnswers::Found;
  using Known = Result<IdempotentAnswers::Known>;
  const auto found = [](IdempotentAnswers& of, const char* scope, const char* hash) {
    const auto known = of.begin(scope, hash, [](const Known&) {});
    return known ? known->found : Found::in_progress;
  };
  EXPECT_EQ(found(answers, "a", "h1"), Found::first);
  std::vector<Response> later;
  const auto waiting = answers.begin("a", "h1", [&later](const Known& known) { later.push_back(known->answer); });
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->found, Found::in_progress);
  EXPECT_EQ(found(answers, "a", "h2"), Found::other_request);
  EXPECT_TRUE(later.empty());
  // With the mark of a repeat: it was one for the store, because a server died before it could keep the first answer.
  const Response done(201, "text/plain", {{"location", "/x"}, {replayed_header, "true"}}, "done");
  EXPECT_EQ(end(answers, "a", done).body, "done");
  for (IdempotentAnswers* node : {&answers, &elsewhere}) {
    const auto known = node->begin("a", "h1", [](const Known&) {});
    ASSERT_TRUE(known);
    ASSERT_EQ(known->found, Found::repeat);
    later.push_back(known->answer);
    EXPECT_EQ(found(*node, "a", "h2"), Found::other_request);
  }
  ASSERT_EQ(later.size(), 3u) << "the one that waited got its answer";
  for (const Response& answer : later) {
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.content_type, "text/plain");
    EXPECT_EQ(answer.body, "done");
    EXPECT_EQ(header(answer, "location"), "/x");
    EXPECT_EQ(header(answer, replayed_header), "true");
    EXPECT_EQ(answer.headers.size(), 2u) << "it is marked once";
  }
}

TEST(IdempotentAnswers, AKeyIsNewForAResourceWithTheIdOfARemovedOne) {
  SystemClock clock;
  MemoryStore store(clock);
  const auto core = EngineCore::open(store, {});
  ASSERT_TRUE(core);
  IdempotentAnswers answers(**core);
  using Found = IdempotentAnswers::Found;
  const auto ask = [&answers](const char* created, const char* body) {
    const auto known = answers.begin("a", "h1", {}, created);
    if (known->found != Found::first) return known->answer.body;
    std::promise<std::string> sent;
    answers.end("a", "h1", Response(200, "text/plain", {}, body),
                [&sent](const Response& response) { sent.set_value(response.body); });
    return sent.get_future().get();
  };
  EXPECT_EQ(ask("100", "first"), "first");
  EXPECT_EQ(ask("100", "x"), "first");
  EXPECT_EQ(ask("", "x"), "first") << "removed";
  EXPECT_EQ(ask("200", "second"), "second");
  EXPECT_EQ(ask("200", "x"), "second");
  EXPECT_EQ(ask("300", "third"), "third");
  EXPECT_EQ(ask("200", "x"), "second");
}

TEST(IdempotentAnswers, RefusalsAndLargeAnswersAreNotKept) {
  SystemClock clock;
  MemoryStore store(clock);
  const auto core = EngineCore::open(store, {});
  ASSERT_TRUE(core);
  IdempotentAnswers answers(**core);
  using Found = IdempotentAnswers::Found;
  using Known = Result<IdempotentAnswers::Known>;
  const Response large(200, "text/plain", {}, std::string(IdempotentAnswers::body_bytes_max + 1, 'x'));
  Response partial(200, "text/plain", {}, "one of two");
  partial.partial = true;
  for (const Response& answer :
       {Response(404, "text/plain", {}, "no"), Response(503, "text/plain", {}, "no"), large, partial}) {
    const auto first = answers.begin("a", "h1", {});
    ASSERT_TRUE(first);
    EXPECT_EQ(first->found, Found::first) << "the refusal before was not kept";
    Response later;
    const auto second = answers.begin("a", "h1", [&later](const Known& known) { later = known->answer; });
    ASSERT_TRUE(second);
    EXPECT_EQ(second->found, Found::in_progress);
    int sent = 0;
    answers.end("a", "h1", answer, [&sent](const Response& response) { sent = response.status; });
    EXPECT_EQ(sent, answer.status);
    EXPECT_EQ(later.status, answer.status) << "a repeat that waited gets the same";
    EXPECT_EQ(later.body, answer.body);
    EXPECT_EQ(header(later, replayed_header), answer.status < 400 ? "true" : "");
  }
}

TEST(Liveness, FailsWhileCommitsMakeNoProgress) {
  SystemClock clock;
  MemoryStore memory(clock);
  HeldStore store(memory);
  const auto core = std::move(*EngineCore::open(store, {}));
  EXPECT_EQ(liveness(*core, std::chrono::milliseconds(1)).status, 200) << "nothing is queued";
  std::promise<void> kept;
  Unit unit;
  unit.key = IdempotencyKey{"s", "k", "h", Json()};
  core->deliveries().queue().submit(std::move(unit), [&](Result<CommitOutcome>, Unit&&) { kept.set_value(); });
  while (liveness(*core, std::chrono::milliseconds(1)).status != 503) std::this_thread::yield();
  EXPECT_EQ(liveness(*core).status, 200) << "not for long enough";
  store.gate.count_down();
  kept.get_future().wait();
  while (liveness(*core, std::chrono::nanoseconds(1)).status != 200) std::this_thread::yield();
}

TEST(Metrics, AreTextForPrometheus) {
  Metrics metrics;
  metrics.count_request("getInfo", 200, std::chrono::milliseconds(3));
  metrics.count_request("getInfo", 200, std::chrono::seconds(60));
  metrics.count_refusal("forbidden");
  metrics.gauge("cairn_x", "X.", [] { return 2.5; });
  const std::string text = metrics.text();
  for (const char* line :
       {"cairn_http_requests_total{operation=\"getInfo\",status=\"200\"} 2\n",
        "cairn_http_request_duration_seconds_bucket{operation=\"getInfo\",le=\"0.0025\"} 0\n",
        "cairn_http_request_duration_seconds_bucket{operation=\"getInfo\",le=\"0.005\"} 1\n",
        "cairn_http_request_duration_seconds_bucket{operation=\"getInfo\",le=\"+Inf\"} 2\n",
        "cairn_http_request_duration_seconds_count{operation=\"getInfo\"} 2\n",
        "cairn_http_refusals_total{reason=\"forbidden\"} 1\n", "# TYPE cairn_x gauge\ncairn_x 2.5\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Metrics, OfTheWorkAreCountersAndHistograms) {
  WorkflowCounts counts;
  SliceCounts slice;
  slice.instances = {{"loan", true, Status::completed}, {"say \"hi\"", true, std::nullopt}};
  slice.waits = {{"loan", "review", WaitKind::task, Duration::of_ms(90'500)}};
  slice.timer_late = Duration::of_ms(20);
  counts.add(slice);
  RunRow again;
  again.type = "card.charge.v1";
  again.attempt = 2;
  counts.add_leased({&again, 1});
  Metrics metrics;
  add_workflow_metrics(metrics, counts);
  const std::string text = metrics.text();
  for (const char* line :
       {"# TYPE cairn_instances_started_total counter\ncairn_instances_started_total{definition=\"loan\"} 1\n",
        "cairn_instances_started_total{definition=\"say \\\"hi\\\"\"} 1\n",
        "cairn_instances_ended_total{definition=\"loan\",status=\"completed\"} 1\n",
        "# TYPE cairn_step_duration_seconds histogram\n",
        "cairn_step_duration_seconds_bucket{definition=\"loan\",step=\"review\",le=\"60\"} 0\n",
        "cairn_step_duration_seconds_bucket{definition=\"loan\",step=\"review\",le=\"600\"} 1\n",
        "cairn_step_duration_seconds_bucket{definition=\"loan\",step=\"review\",le=\"+Inf\"} 1\n",
        "cairn_step_duration_seconds_sum{definition=\"loan\",step=\"review\"} 90.5\n",
        "cairn_wait_duration_seconds_count{kind=\"task\"} 1\n", "cairn_wait_duration_seconds_count{kind=\"run\"} 0\n",
        "cairn_timer_lateness_seconds_bucket{le=\"0.01\"} 0\ncairn_timer_lateness_seconds_bucket{le=\"0.1\"} 1\n",
        "cairn_timer_lateness_seconds_sum 0.02\n", "cairn_run_retries_total{type=\"card.charge.v1\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

Request asked(std::string method, std::string host, std::string origin) {
  Request request;
  request.method = std::move(method);
  request.headers = {{"host", std::move(host)}};
  if (!origin.empty()) request.headers.emplace_back("origin", std::move(origin));
  return request;
}

TEST(Origin, AForeignPageMayNotAct) {
  EXPECT_FALSE(foreign(asked("POST", "cairn.example:8400", ""), {}, true));
  EXPECT_FALSE(foreign(asked("POST", "cairn.example:8400", "https://cairn.example:8400"), {}, true));
  EXPECT_FALSE(foreign(asked("GET", "cairn.example", "https://evil.example"), {}, true));
  EXPECT_TRUE(foreign(asked("POST", "cairn.example", "https://evil.example"), {}, true));
  EXPECT_TRUE(foreign(asked("POST", "cairn.example", "null"), {}, true));
  EXPECT_TRUE(foreign(asked("DELETE", "cairn.example", "https://cairn.example.evil.example"), {}, true));
  EXPECT_FALSE(foreign(asked("POST", "cairn.example", "https://good.example"), {"https://good.example"}, true));
}

TEST(Origin, WithoutAuthenticationOnlyNamesOfThisMachineAreAnswered) {
  for (const char* host : {"localhost", "localhost:8400", "127.0.0.1:8400", "[::1]:8400", "x.localhost"}) {
    EXPECT_FALSE(foreign(asked("GET", host, ""), {}, false)) << host;
  }
  for (const char* host : {"evil.example", "127.evil.example.", "localhost.evil.example", ""}) {
    EXPECT_TRUE(foreign(asked("GET", host, ""), {}, false)) << host;
  }
}

TEST(Roles, ARouteWithoutAPermissionIsForNobody) {
  for (const Role role : all_roles) {
    EXPECT_FALSE(allows(role, Permission::undeclared));
    EXPECT_EQ(role_from(to_string(role)), role);
  }
  EXPECT_FALSE(role_from("root"));
  Identity worker;
  worker.roles = {Role::worker};
  worker.prefixes = std::vector<std::string>{"billing."};
  EXPECT_TRUE(worker.may(Permission::work_runs));
  EXPECT_FALSE(worker.may(Permission::view));
  EXPECT_TRUE(worker.may_work_on("billing.charge.v1"));
  EXPECT_FALSE(worker.may_work_on("bill"));
  EXPECT_FALSE(worker.may_work_on("hr.pay"));
}

}  // namespace
}  // namespace cairn::api
