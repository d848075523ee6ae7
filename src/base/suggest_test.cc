#include "base/suggest.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn {
namespace {

const std::vector<std::string> names = {"amount", "applicant", "approved", "state", "status"};

TEST(NearestName, ASlipFindsTheName) {
  EXPECT_EQ(nearest_name("amuont", names), "amount");
  EXPECT_EQ(nearest_name("aproved", names), "approved");
  EXPECT_EQ(nearest_name("Amount", names), "amount");
  EXPECT_EQ(nearest_name("staus", names), "status");
}

TEST(NearestName, SomethingElseFindsNothing) {
  EXPECT_EQ(nearest_name("customer", names), std::nullopt);
  EXPECT_EQ(nearest_name("x", names), std::nullopt);
  EXPECT_EQ(nearest_name("", names), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(1000, 'a'), names), std::nullopt);
}

}  // namespace
}  // namespace cairn
