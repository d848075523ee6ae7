#include "transport/egress_policy.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

expr::IpAddress address(const std::string& text) {
  const auto parsed = expr::IpAddress::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(expr::IpAddress{});
}

EgressPolicy policy(const std::vector<std::string>& allowed) {
  auto made = EgressPolicy::make(allowed);
  EXPECT_TRUE(made) << made.error().message;
  return made ? *made : EgressPolicy();
}

TEST(EgressPolicy, RefusesEverythingThatIsNotPublic) {
  for (const char* text :
       {"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.1.2.3", "100.64.0.1", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.168.1.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "240.0.0.1",
        "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
        // IPv4 addresses embedded in IPv6.
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1",
        "2002:7f00:1::", "2002:a00:1::1", "::ffff:0:127.0.0.1"}) {
    EXPECT_FALSE(EgressPolicy().allows(address(text))) << text;
  }
}

TEST(EgressPolicy, AllowsPublicAddresses) {
  for (const char* text : {"1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111",
                           "64:ff9b::101:101", "2002:101:101::1"}) {
    EXPECT_TRUE(EgressPolicy().allows(address(text))) << text;
  }
}

TEST(EgressPolicy, AllowsTheNetworksThatAreNamed) {
  const EgressPolicy named = policy({"10.0.0.0/8", "127.0.0.1"});
  EXPECT_TRUE(named.allows(address("10.9.8.7")));
  EXPECT_TRUE(named.allows(address("127.0.0.1")));
  EXPECT_TRUE(named.allows(address("::ffff:10.0.0.1")));  // the same host
  EXPECT_FALSE(named.allows(address("127.0.0.2")));
  EXPECT_FALSE(named.allows(address("192.168.0.1")));
}

TEST(EgressPolicy, PlainHttpIsForNamedHostsOnly) {
  EXPECT_FALSE(EgressPolicy().allows_plain("example.com", 80));
  const EgressPolicy named = policy({"http://intranet.example", "http://127.0.0.1:9000"});
  EXPECT_TRUE(named.allows_plain("intranet.example", 80));
  EXPECT_TRUE(named.allows_plain("INTRANET.example", 8080));
  EXPECT_FALSE(named.allows_plain("intranet.example.evil.com", 80));
  EXPECT_TRUE(named.allows_plain("127.0.0.1", 9000));
  EXPECT_FALSE(named.allows_plain("127.0.0.1", 9001));
  // An origin with an address as its host allows that address.
  EXPECT_TRUE(named.allows(address("127.0.0.1")));
  EXPECT_TRUE(policy({"http://*"}).allows_plain("anything", 80));
  EXPECT_FALSE(policy({"http://*"}).allows(address("127.0.0.1")));
  EXPECT_TRUE(policy({"http://[::1]:81"}).allows_plain("::1", 81));
}

TEST(EgressPolicy, SaysWhatAnEntryMayBe) {
  for (const char* entry : {"intranet", "http://", "http://a:0", "http://a:99999", "http://a/b", "10.0.0.0/33", ""}) {
    EXPECT_FALSE(EgressPolicy::make({entry})) << entry;
  }
}

}  // namespace
}  // namespace cairn
