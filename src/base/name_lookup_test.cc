#include "base/name_lookup.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace cairn {
namespace {

using Addresses = NameLookup::Addresses;
using std::chrono::milliseconds;

constexpr milliseconds long_enough{60'000};

TEST(NameWait, AnswersWhatTheResolverFinds) {
  NameWait names([](const std::string& host) { return host == "known" ? Addresses{"192.0.2.1", "::1"} : Addresses(); });
  EXPECT_EQ(*names.find("known", long_enough), (Addresses{"192.0.2.1", "::1"}));
  const auto unknown = names.find("unknown", long_enough);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error(), (Error{ErrorCode::unavailable, "there is no host unknown"}));
}

TEST(NameWait, WaitsNoLongerThanItsCallerSays) {
  std::latch released{1}, answered{1};
  {
    NameWait names([&](const std::string& host) {
      if (host == "slow") released.wait();
      answered.count_down(host == "slow" ? 1 : 0);
      return Addresses{"192.0.2.1"};
    });
    const auto slow = names.find("slow", milliseconds(1));
    ASSERT_FALSE(slow.has_value());
    EXPECT_EQ(slow.error().code, ErrorCode::unavailable);
    EXPECT_NE(slow.error().message.find("has not answered for slow"), std::string::npos) << slow.error().message;
    EXPECT_TRUE(names.find("other", long_enough).has_value()) << "no name waits for another";
  }
  released.count_down();
  answered.wait();
}

TEST(NameWait, WhoAsksWhileANameIsLookedUpGetsTheSameAnswer) {
  std::latch released{1};
  std::atomic<int> asked = 0;
  NameWait names([&](const std::string&) {
    ++asked;
    released.wait();
    return Addresses{"192.0.2.1"};
  });
  ASSERT_FALSE(names.find("slow", milliseconds(1)).has_value());
  std::thread second([&] { EXPECT_TRUE(names.find("slow", long_enough).has_value()); });
  ASSERT_FALSE(names.find("slow", milliseconds(1)).has_value());
  released.count_down();
  second.join();
  EXPECT_LE(asked, 2) << "again only if the first lookup had ended";
}

TEST(NameWait, AnAddressIsItsOwnAnswer) {
  for (const char* const address : {"192.0.2.1", "2001:db8::1"}) {
    EXPECT_EQ(*find_addresses(address, milliseconds(0)), Addresses{address});
  }
}

}  // namespace
}  // namespace cairn
