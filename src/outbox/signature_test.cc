#include "outbox/signature.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

const std::string secret(32, 's');
const std::string other(32, 'o');
constexpr Timestamp now = Timestamp::of_unix_ms(1'700'000'000'000);

SignedRequest request(std::string_view body) { return {"hook-1", {{"content-type", "application/json"}}, body}; }

bool accepts(std::string_view with, std::string_view old, std::string_view timestamp, std::string_view signature,
             std::string_view body, Timestamp at = now) {
  return check_signature(with, old, timestamp, signature, request(body), at).has_value();
}

TEST(Signature, IsTheHmacOfTimeTargetHeadersAndBody) {
  // printf '1700000000\nhook-1\nce-id:7\ncontent-type:application/json\n\n{"a":1}' | openssl dgst -sha256 -hmac sss…
  SignedRequest signed_request = request(R"({"a":1})");
  signed_request.headers.emplace_back("Ce-Id", "7");
  EXPECT_EQ(sign(secret, now, signed_request), "v2=5cadd474b8577528fef70753c4ba92c0f8b07cbbd8b31ce836f0f9a646ec2ed3");
}

TEST(Signature, NothingThatItCoversCanBeChanged) {
  SignedRequest sent = request("body");
  sent.headers.emplace_back("ce-type", "order.paid");
  const std::string signature = sign(secret, now, sent);
  const auto taken = [&](const SignedRequest& changed) {
    return check_signature(secret, "", "1700000000", signature, changed, now).has_value();
  };
  EXPECT_TRUE(taken(sent));
  SignedRequest changed = sent;
  changed.target = "hook-2";
  EXPECT_FALSE(taken(changed)) << "another hook";
  changed = sent;
  changed.headers.back().second = "order.cancelled";
  EXPECT_FALSE(taken(changed)) << "another type";
  changed = sent;
  changed.headers.pop_back();
  EXPECT_FALSE(taken(changed)) << "without a header";
  changed = sent;
  changed.headers.emplace_back("ce-subject", "A1");
  EXPECT_FALSE(taken(changed)) << "with another header";
  changed = sent;
  changed.body = "body ";
  EXPECT_FALSE(taken(changed)) << "another body";
}

TEST(Signature, TheTargetIsTheLastSegmentOfThePath) {
  EXPECT_EQ(target_of("https://cairn.example/v1/hooks/5f0c"), "5f0c");
  EXPECT_EQ(target_of("https://cairn.example:8400/a/b?x=/y#/z"), "b");
  EXPECT_EQ(target_of("/v1/hooks/5f0c"), "5f0c");
  EXPECT_EQ(target_of("https://cairn.example"), "");
}

TEST(Signature, IsAcceptedFromEitherSecretWithinFiveMinutes) {
  const std::string signature = sign(secret, now, request("body"));
  EXPECT_TRUE(accepts(secret, "", "1700000000", signature, "body"));
  EXPECT_TRUE(accepts(other, secret, "1700000000", signature, "body"));
  EXPECT_TRUE(accepts(secret, "", "1700000000", signature, "body", Timestamp::of_unix_ms(1'700'000'300'000)));
}

TEST(Signature, EverythingElseIsRefused) {
  const std::string signature = sign(secret, now, request("body"));
  EXPECT_FALSE(accepts("", "", "1700000000", signature, "body")) << "no secret";
  EXPECT_FALSE(accepts("short", "", "1700000000", sign("short", now, request("body")), "body"));
  EXPECT_FALSE(accepts(other, "", "1700000000", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", signature, "body "));
  EXPECT_FALSE(accepts(secret, "", "1700000001", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "17e8", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "-9223372036854775808", signature, "body")) << "the age would overflow";
  EXPECT_FALSE(accepts(secret, "", "9223372036854775807", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", "", "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", "v0" + signature.substr(2), "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", signature, "body", Timestamp::of_unix_ms(1'700'000'301'000)));
  EXPECT_FALSE(accepts(secret, "", "1700000000", signature, "body", Timestamp::of_unix_ms(1'699'999'699'000)));
}

}  // namespace
}  // namespace cairn
