#include "store/error_fingerprint.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(ErrorFingerprint, LeavesOutWhatDiffersFromInstanceToInstance) {
  EXPECT_EQ(error_pattern("HTTP 503 from https://bank/orders/12003459"), "HTTP 503 from https://bank/orders/#");
  EXPECT_EQ(error_pattern("no answer within 30s for 0198c0de-1111-7abc-8def-0123456789ab"), "no answer within # for #");
  EXPECT_EQ(error_pattern("\"L-1047\" is not open"), "\"\" is not open");
  EXPECT_EQ(error_pattern("can't read 'x y'"), "can't read ''");
  EXPECT_EQ(error_pattern("an open \"quote"), "an open \"quote");
  EXPECT_EQ(error_pattern(""), "");
  EXPECT_EQ(error_pattern(std::string(100'000, 'x') + " y").size(), 200u);
}

TEST(ErrorFingerprint, DiffersByWorkflowStepCodeAndMessage) {
  const std::string one = error_fingerprint("order", "charge", "http", "HTTP 503");
  EXPECT_EQ(one.size(), 16u);
  EXPECT_EQ(one, error_fingerprint("order", "charge", "http", "HTTP 503"));
  EXPECT_NE(one, error_fingerprint("orders", "charge", "http", "HTTP 503"));
  EXPECT_NE(one, error_fingerprint("order", "ship", "http", "HTTP 503"));
  EXPECT_NE(one, error_fingerprint("order", "charge", "timeout", "HTTP 503"));
  EXPECT_NE(one, error_fingerprint("order", "charge", "http", "HTTP 404"));
}

}  // namespace
}  // namespace cairn
