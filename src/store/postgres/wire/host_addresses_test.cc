#include "store/postgres/wire/host_addresses.h"

#include <gtest/gtest.h>

namespace cairn::postgres {
namespace {

Result<std::vector<std::string>> look_up(const std::string& host) {
  if (host == "one") return std::vector<std::string>{"192.0.2.1"};
  if (host == "two") return std::vector<std::string>{"192.0.2.2", "2001:db8::2"};
  return Error{ErrorCode::unavailable, "there is no host " + host};
}

Hosts hosts(const std::string& host, const std::string& port) {
  const auto found = with_addresses({host, "", port}, look_up);
  EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
  return found ? *found : Hosts{};
}

TEST(HostAddresses, AnEntryForEachAddressOfAName) {
  EXPECT_EQ(hosts("one", ""), (Hosts{"one", "192.0.2.1", ""}));
  EXPECT_EQ(hosts("two", "5432"), (Hosts{"two,two", "192.0.2.2,2001:db8::2", "5432,5432"}));
  EXPECT_EQ(hosts("one,two", "5432,5433"), (Hosts{"one,two,two", "192.0.2.1,192.0.2.2,2001:db8::2", "5432,5433,5433"}));
  EXPECT_EQ(hosts("two,one", "5433"), (Hosts{"two,two,one", "192.0.2.2,2001:db8::2,192.0.2.1", "5433"}));
}

TEST(HostAddresses, SocketsAndAddressesStay) {
  EXPECT_EQ(hosts("/run/postgresql", "5432"), (Hosts{"/run/postgresql", "", "5432"}));
  EXPECT_EQ(hosts("fe80::1%eth0,one,@abstract", ""), (Hosts{"fe80::1%eth0,one,@abstract", ",192.0.2.1,", ""}));
}

TEST(HostAddresses, AnUnknownHostIsLeftOutIfAnotherRemains) {
  EXPECT_EQ(hosts("none,one", "1,2"), (Hosts{"one", "192.0.2.1", "2"}));
  const auto none = with_addresses({"none", "", ""}, look_up);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message, "there is no host none");
}

}  // namespace
}  // namespace cairn::postgres
