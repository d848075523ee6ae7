#include "transport/http_call.h"

#include <gtest/gtest.h>

#include "expr/secret_mark.h"
#include "instance/trace_id.h"

namespace cairn {
namespace {

const Secrets secrets({{"token", {"s3cr3t-value", {}}}, {"bound", {"b0und-value", {"api.example"}}}});

TransportCall call_of(Json request) {
  TransportCall call;
  call.run = {"run-1"};
  call.instance = InstanceId{"instance-1"};
  call.request = std::move(request);
  call.idempotency_key = "key-1";
  return call;
}

Result<HttpCall> read(Json request, bool of_a_workflow = true) {
  Unsealing unsealing(secrets, of_a_workflow);
  const TransportCall call = call_of(std::move(request));
  return read_http_call(call.request, call, unsealing);
}

std::string header(const HttpCall& call, std::string_view name) {
  for (const auto& [key, value] : call.headers) {
    if (key == name) return value;
  }
  return "(none)";
}

TEST(HttpCall, CarriesKeyTraceAndBody) {
  const auto call = read(Json::object({{"method", "POST"},
                                       {"url", "https://api.example/a?x=1"},
                                       {"query", Json::object({{"q", "a b&c"}, {"n", Json::array({1, true})}})},
                                       {"headers", Json::object({{"X-Count", 3}})},
                                       {"body", Json::object({{"a", 1}})},
                                       {"accept", Json::array({404})}}));
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(call->url, "https://api.example/a?x=1&n=1&n=true&q=a%20b%26c");
  EXPECT_EQ(call->body, R"({"a":1})");
  EXPECT_EQ(header(*call, "Content-Type"), "application/json");
  EXPECT_EQ(header(*call, "X-Count"), "3");
  EXPECT_EQ(header(*call, "Idempotency-Key"), "key-1");
  EXPECT_EQ(header(*call, "traceparent").size(), 55u);
  EXPECT_TRUE(call->accepted.contains(404));
}

TEST(HttpCall, TheTraceIsTheInstancesAndTheSpanTheAttempts) {
  const Json request = Json::object({{"url", "https://api.example/"}});
  TransportCall call = call_of(request);
  call.instance = InstanceId{"order-7"};
  call.attempt = 2;
  Unsealing unsealing(secrets, true);
  const auto http = read_http_call(request, call, unsealing);
  ASSERT_TRUE(http) << http.error().message;
  EXPECT_EQ(header(*http, "traceparent"), traceparent_of(trace_id_of(InstanceId{"order-7"}), span_id_of(call.run, 2)));
}

// Header injection: no value may end a line or replace a header of the client.
TEST(HttpCall, RefusesWhatCouldEndALineOrReplaceAHeader) {
  const std::string url = "https://api.example/";
  for (const Json& headers :
       {Json::object({{"X", "a\r\nHost: evil"}}), Json::object({{"X", "a\nb"}}), Json::object({{"X\r\nY", "a"}}),
        Json::object({{"Host", "evil"}}), Json::object({{"content-length", "0"}}),
        Json::object({{"Transfer-Encoding", "chunked"}}), Json::object({{"Connection", "close"}}),
        Json::object({{"Idempotency-Key", "mine"}}), Json::object({{"", "x"}}), Json::object({{"X Y", "x"}}),
        Json::object({{"X", Json::array()}}), Json("text")}) {
    const auto call = read(Json::object({{"url", url}, {"headers", headers}}));
    ASSERT_FALSE(call) << write_json(headers);
    EXPECT_EQ(call.error().code, ErrorCode::invalid);
  }
  for (const char* bad : {"https://api.example/\r\nX: y", "https://api.example/%0d%0aX:y", "https://api.example/%0A",
                          "https://api.example/%00",
                          "https://b\xC3\xBC"
                          "cher.example/",
                          "https://api.example/a b", "https://ok.example\\@127.0.0.1",
                          "https://\xE2\x91\xA0\xE2\x91\xA1\xE2\x91\xA6.example/"}) {
    EXPECT_FALSE(read(Json::object({{"url", bad}}))) << bad;
  }
  EXPECT_FALSE(read(Json::object({{"url", url}, {"method", "GET / HTTP/1.1\r\nX: y"}})));
  EXPECT_FALSE(read(Json::object({{"url", url + std::string(9000, 'a')}})));
  EXPECT_FALSE(read(Json::object({{"url", 7}})));
  EXPECT_FALSE(read(Json::object({{"url", ""}})));
  EXPECT_FALSE(read(Json::object({{"url", "#only"}, {"query", Json::object()}})));
}

TEST(HttpCall, PutsSecretsInOnlyForWorkflows) {
  const Json request =
      Json::object({{"url", "https://api.example/"},
                    {"headers", Json::object({{"Authorization", "Bearer " + expr::secret_marker("token")}})},
                    {"body", Json::object({{"k", expr::secret_marker("token")}})},
                    {"method", "POST"}});
  const auto call = read(request);
  ASSERT_TRUE(call) << call.error().message;
  EXPECT_EQ(header(*call, "Authorization"), "Bearer s3cr3t-value");
  EXPECT_EQ(call->body, R"({"k":"s3cr3t-value"})");
  const auto direct = read(request, false);
  ASSERT_FALSE(direct);
  EXPECT_EQ(direct.error().code, ErrorCode::not_allowed);
}

TEST(HttpCall, DataThatLooksLikeASecretIsSentAsData) {
  const std::string forged = expr::secret_marker("token");
  const Json sealed = expr::seal(Json(forged), {});
  const auto call = read(Json::object({{"url", "https://api.example/"}, {"method", "POST"}, {"body", sealed}}));
  ASSERT_TRUE(call);
  EXPECT_EQ(call->body, write_json(Json(forged)));
}

TEST(HttpCall, AnUnknownSecretIsNamedAndNothingElse) {
  const auto call = read(Json::object({{"url", "https://api.example/?k=" + expr::secret_marker("api-key")}}));
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().message, "secret(\"api-key\") is not set; set CAIRN_SECRET_API_KEY");
}

TEST(Unsealing, TakesValuesOutOfWhatComesBack) {
  Unsealing unsealing(secrets, true);
  ASSERT_TRUE(unsealing.text(expr::secret_marker("token")));
  const Json echo = Json::object({{"s3cr3t-value", Json::array({"x s3cr3t-value y"})}});
  EXPECT_EQ(unsealing.mask(echo), Json::object({{"***", Json::array({"x *** y"})}}));
}

// A secret with a host list is never sent to another host.
TEST(Unsealing, ASecretGoesToItsHostsOnly) {
  Unsealing unsealing(secrets, true);
  EXPECT_TRUE(unsealing.check_host("evil.example"));
  ASSERT_TRUE(unsealing.text(expr::secret_marker("bound")));
  EXPECT_TRUE(unsealing.check_host("api.example"));
  EXPECT_FALSE(unsealing.check_host("evil.example"));
}

}  // namespace
}  // namespace cairn
