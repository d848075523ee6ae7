#include "engine/sender_scope.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Actor sender(const std::string& name) { return {name, {}, false, name}; }

TEST(SenderScope, KeepsTheIdsOfTwoSendersApart) {
  EXPECT_NE(scoped_id(sender("ann"), "k"), scoped_id(sender("bob"), "k"));
  EXPECT_EQ(scoped_id(sender("ann"), "k"), scoped_id(sender("ann"), "k"));
  EXPECT_NE(scoped_keys(sender("ann"), "start"), scoped_keys(sender("bob"), "start"));
  EXPECT_EQ(scoped_id({}, "k"), "k");
  EXPECT_EQ(scoped_id(sender("ann"), ""), "");
  EXPECT_EQ(scoped_keys({}, "start"), "start");
}

TEST(SenderScope, ShowsWhatTheSenderCalledIt) {
  EXPECT_EQ(unscoped_id(scoped_id(sender("ann"), "order:7")), "order:7");
  for (const char* const plain : {"", "k", "sender-", "sender-x:k", "sender-0123456789abcdef0123456X:k"}) {
    EXPECT_EQ(unscoped_id(plain), plain);
  }
}

}  // namespace
}  // namespace cairn
