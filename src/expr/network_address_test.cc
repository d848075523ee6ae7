#include "expr/network_address.h"

#include <gtest/gtest.h>

namespace cairn::expr {
namespace {

TEST(NetworkAddress, HasNoSigns) {
  EXPECT_TRUE(IpAddress::parse("0.0.0.1"));
  for (const char* const text : {"-0.0.0.1", "1.2.3.-0", "+1.2.3.4", "::-0", "::ffff:1.2.3.-0"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
  EXPECT_TRUE(IpNetwork::parse("10.0.0.0/0"));
  for (const char* const text : {"10.0.0.0/-0", "10.0.0.0/+8", "-0.0.0.0/8", "::/-0"}) {
    EXPECT_FALSE(IpNetwork::parse(text)) << text;
  }
}

}  // namespace
}  // namespace cairn::expr
