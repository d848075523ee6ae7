#include "outbox/signature.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

const std::string secret(32, 's');
const std::string other(32, 'o');
constexpr Timestamp now = Timestamp::of_unix_ms(1'700'000'000'000);

bool accepts(std::string_view with, std::string_view old, std::string_view timestamp, std::string_view signature,
             std::string_view body, Timestamp at = now) {
  return check_signature(with, old, timestamp, signature, body, at).has_value();
}

TEST(Signature, IsTheHmacOfTimeAndBody) {
  // printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac ssssssssssssssssssssssssssssssss
  EXPECT_EQ(sign(secret, now, R"({"a":1})"), "v1=da54d054c6c42cc9950b89a9afffe7bcdafff0cea3bd354ab40fe78e1e527905");
}

TEST(Signature, IsAcceptedFromEitherSecretWithinFiveMinutes) {
  const std::string signature = sign(secret, now, "body");
  EXPECT_TRUE(accepts(secret, "", "1700000000", signature, "body"));
  EXPECT_TRUE(accepts(other, secret, "1700000000", signature, "body"));
  EXPECT_TRUE(accepts(secret, "", "1700000000", signature, "body", Timestamp::of_unix_ms(1'700'000'300'000)));
}

TEST(Signature, EverythingElseIsRefused) {
  const std::string signature = sign(secret, now, "body");
  EXPECT_FALSE(accepts("", "", "1700000000", signature, "body")) << "no secret";
  EXPECT_FALSE(accepts("short", "", "1700000000", sign("short", now, "body"), "body"));
  EXPECT_FALSE(accepts(other, "", "1700000000", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", signature, "body "));
  EXPECT_FALSE(accepts(secret, "", "1700000001", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "17e8", signature, "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", "", "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", "v0" + signature.substr(2), "body"));
  EXPECT_FALSE(accepts(secret, "", "1700000000", signature, "body", Timestamp::of_unix_ms(1'700'000'301'000)));
  EXPECT_FALSE(accepts(secret, "", "1700000000", signature, "body", Timestamp::of_unix_ms(1'699'999'699'000)));
}

}  // namespace
}  // namespace cairn
