#include "api/access/inbound_hook.h"

#include <gtest/gtest.h>

#include "outbox/signature.h"

namespace cairn::api {
namespace {

constexpr const char* id = "0123456789abcdef0123456789abcdef";
const std::string secret(32, 's');
const std::string old_secret(32, 'o');
const Timestamp now = Timestamp::of_unix_ms(1'700'000'000'000);

Json plain() { return Json::object({{"name", "crm"}, {"id", id}, {"secret", secret}}); }

Json with(const char* member, Json value) {
  Json hook = plain();
  hook.set(member, std::move(value));
  return hook;
}

Result<InboundHook> read(const Json& hook) {
  CAIRN_TRY(auto hooks, read_hooks(Json::array({hook})));
  return std::move(hooks.front());
}

Request signed_by(const std::string& with_secret, const std::string& body, Timestamp at = now) {
  Request request;
  request.body = body;
  request.headers = {{timestamp_header, std::to_string(at.seconds)},
                     {signature_header, sign(with_secret, at, {id, {}, body})}};
  return request;
}

TEST(InboundHook, WithoutAGoodSecretItDoesNotStart) {
  EXPECT_TRUE(read(plain()).has_value());
  Json bare = plain();
  bare.erase("secret");
  for (const Json& bad : {bare, with("secret", ""), with("secret", std::string(31, 's')), with("secret", 1),
                          with("old_secret", ""), with("old_secret", std::string(31, 's')),
                          with("secret_file", "/dev/null"), with("old_secret_file", "/nowhere/at/all")}) {
    const auto hook = read(bad);
    ASSERT_FALSE(hook.has_value()) << write_json(bad);
    EXPECT_EQ(hook.error().code, ErrorCode::invalid);
    EXPECT_NE(hook.error().message.find("secret"), std::string::npos) << hook.error().message;
  }
}

TEST(InboundHook, AnAddressThatCouldBeGuessedIsRefused) {
  for (const char* const bad :
       {"", "crm", "0123456789abcdef01234", "0123456789abcdef/0123456789abcdef", "0123456789abcdef 123456789"}) {
    EXPECT_FALSE(read(with("id", bad)).has_value()) << bad;
  }
  Json other = with("name", "other");
  EXPECT_FALSE(read_hooks(Json::array({plain(), other})).has_value()) << "the same id twice";
  other.set("id", std::string(40, 'x'));
  const auto hooks = read_hooks(Json::array({plain(), other}));
  ASSERT_TRUE(hooks.has_value());
  EXPECT_EQ(find_hook(*hooks, id)->name, "crm");
  EXPECT_EQ(find_hook(*hooks, std::string(id).substr(1)), nullptr);
  EXPECT_EQ(find_hook(*hooks, ""), nullptr);
}

TEST(InboundHook, SettingsThatMeanNothingAreRefused) {
  for (const Json& bad : {with("signal", 1), with("signal", "= body +"), with("key", "= body.no"), with("sinal", "x"),
                          with("types", "x"), with("ttl", "soon"), with("name", "")}) {
    EXPECT_FALSE(read(bad).has_value()) << write_json(bad);
  }
  EXPECT_FALSE(read_hooks(Json::object()).has_value());
  EXPECT_TRUE(read_hooks(Json()).value_or({}).empty());
}

TEST(InboundHook, TakesBothSecretsWhileOneIsReplaced) {
  const auto hook = read(with("old_secret", old_secret));
  EXPECT_TRUE(check_signed(*hook, signed_by(secret, "{}"), now).has_value());
  EXPECT_TRUE(check_signed(*hook, signed_by(old_secret, "{}"), now).has_value());
  EXPECT_FALSE(check_signed(*hook, signed_by(std::string(32, 'x'), "{}"), now).has_value());
  EXPECT_FALSE(check_signed(*read(plain()), signed_by(old_secret, "{}"), now).has_value());
}

// Forged, replayed, incomplete and ambiguous signatures, case by case.
TEST(InboundHook, RefusesWhatIsNotSignedAsItShould) {
  const auto hook = read(plain());
  const std::string body = R"({"b": 1, "a": 2})";
  const Request good = signed_by(secret, body);
  ASSERT_TRUE(check_signed(*hook, good, now).has_value());
  const auto refused = [&](const Request& request) {
    const auto checked = check_signed(*hook, request, now);
    return !checked && checked.error().code == ErrorCode::not_allowed;
  };
  Request bad = good;
  bad.headers.pop_back();
  EXPECT_TRUE(refused(bad)) << "no signature";
  bad = good;
  bad.headers.erase(bad.headers.begin());
  EXPECT_TRUE(refused(bad)) << "no timestamp";
  bad = good;
  bad.headers.push_back(good.headers.back());
  EXPECT_TRUE(refused(bad)) << "two signatures, although both are right";
  bad = good;
  bad.headers.push_back(good.headers.front());
  EXPECT_TRUE(refused(bad)) << "two timestamps";
  bad = good;
  bad.body = write_json(*parse_json(body));
  EXPECT_TRUE(refused(bad)) << "the same document in other bytes";
  for (const std::int64_t away : {301, -301}) {
    EXPECT_TRUE(refused(signed_by(secret, body, Timestamp{now.seconds + away, 0}))) << away;
  }
  for (const std::int64_t away : {300, -300}) {
    EXPECT_FALSE(refused(signed_by(secret, body, Timestamp{now.seconds + away, 0}))) << away;
  }
  const std::string digits = good.headers.back().second.substr(3);
  for (const std::string& other :
       {"v0=" + digits, "sha1=" + digits.substr(0, 40), digits, "v2=" + digits + ",v2=" + digits, "V2=" + digits,
        "v1=" + digits, std::string("v2="), std::string(), "v2=" + digits + " "}) {
    bad = good;
    bad.headers.back().second = other;
    EXPECT_TRUE(refused(bad)) << other;
  }
}

TEST(InboundHook, TheSignatureCoversTheHookAndWhatDecidesOnTheSignal) {
  const auto hook = read(with("signed_headers", Json::array({"webhook-id"})));
  Request request;
  request.body = "{}";
  const std::vector<std::pair<std::string, std::string>> covered = {
      {"ce-id", "e1"}, {"ce-type", "order.paid"}, {"content-type", "application/json"}, {"webhook-id", "w-1"}};
  request.headers = covered;
  request.headers.emplace_back("user-agent", "a proxy may write this");
  request.headers.emplace_back(timestamp_header, std::to_string(now.seconds));
  request.headers.emplace_back(signature_header, sign(secret, now, {id, covered, request.body}));
  EXPECT_TRUE(check_signed(*hook, request, now).has_value());
  for (std::size_t i = 0; i < covered.size(); ++i) {
    Request changed = request;
    changed.headers[i].second += "x";
    EXPECT_FALSE(check_signed(*hook, changed, now).has_value()) << covered[i].first;
    changed = request;
    changed.headers.insert(changed.headers.begin(), covered[i]);
    EXPECT_FALSE(check_signed(*hook, changed, now).has_value()) << covered[i].first << " twice";
  }
  Request more = request;
  more.headers.emplace_back("ce-subject", "A1");
  EXPECT_FALSE(check_signed(*hook, more, now).has_value()) << "an attribute that was not signed";
  Json other = with("signed_headers", Json::array({"webhook-id"}));
  other.set("id", std::string(40, 'x'));
  EXPECT_FALSE(check_signed(*read(other), request, now).has_value()) << "another hook with the same secret";
}

TEST(InboundHook, ExpressionsSeeSignedHeadersOnly) {
  Json settings = with("signal", "paid");
  settings.set("event_id", "= headers[\"webhook-id\"]");
  Request request = signed_by(secret, "{}");
  request.headers.emplace_back("webhook-id", "w-1");
  EXPECT_FALSE(signals_of(*read(settings), request).has_value());
}

TEST(InboundHook, ASignalIsReadByExpressions) {
  Json settings = with("signal", "payment.received");
  settings.set("key", "= body.order.no");
  settings.set("payload", "= body.order");
  settings.set("event_id", "= headers[\"webhook-id\"]");
  settings.set("signed_headers", Json::array({"Webhook-Id"}));
  const auto hook = read(settings);
  ASSERT_TRUE(hook.has_value()) << hook.error().message;
  Request request = signed_by(secret, R"({"order":{"no":7,"sum":3}})");
  request.headers.emplace_back("webhook-id", "w-1");
  const auto signals = signals_of(*hook, request);
  ASSERT_TRUE(signals.has_value()) << signals.error().message;
  ASSERT_EQ(signals->size(), 1u);
  EXPECT_EQ(signals->at(0).name, "payment.received");
  EXPECT_EQ(signals->at(0).key, Json("7"));
  EXPECT_EQ(write_json(signals->at(0).payload), R"({"no":7,"sum":3})");
  EXPECT_EQ(signals->at(0).id, "w-1");
  request.body = "{}";
  EXPECT_FALSE(signals_of(*hook, request).has_value()) << "there is no order";
  request.body = "not JSON";
  EXPECT_FALSE(signals_of(*hook, request).has_value());
}

TEST(InboundHook, CloudEventsOfOtherTypesAreRefused) {
  const auto hook = read(with("types", Json::array({"crm."})));
  Request request =
      signed_by(secret, R"({"specversion":"1.0","id":"1","source":"/crm","type":"crm.changed","subject":"S"})");
  request.headers.emplace_back("content-type", "application/cloudevents+json");
  const auto signals = signals_of(*hook, request);
  ASSERT_TRUE(signals.has_value()) << signals.error().message;
  EXPECT_EQ(signals->at(0).name, "crm.changed");
  EXPECT_EQ(signals->at(0).key, Json("S"));
  EXPECT_EQ(signals->at(0).id, "/crm 1");
  request.body = R"({"specversion":"1.0","id":"1","source":"/crm","type":"bank.changed"})";
  EXPECT_FALSE(signals_of(*hook, request).has_value());
}

}  // namespace
}  // namespace cairn::api
