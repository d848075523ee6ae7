#include "base/id.h"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

namespace cairn {
namespace {

static_assert(!std::is_convertible_v<InstanceId, TaskId>);

TEST(Uuids, NewOnesSortByTimeAndNeverRepeat) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(new_uuid(Timestamp::of_unix_ms(1'700'000'000'000)));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_LT(*seen.rbegin(), new_uuid(Timestamp::of_unix_ms(1'700'000'000'001)));
  for (const std::string& id : seen) {
    EXPECT_TRUE(is_uuid(id));
    EXPECT_EQ(id[14], '7');
    EXPECT_NE(std::string("89ab").find(id[19]), std::string::npos);
  }
}

TEST(Uuids, ManyAtOnceAreInOrder) {
  const Timestamp now = Timestamp::of_unix_ms(1'700'000'000'000);
  const auto ids = new_uuids(now, 1000);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 1000u);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
  EXPECT_EQ(ids.front().substr(0, 15), new_uuid(now).substr(0, 15));
  EXPECT_TRUE(is_uuid(ids.back()));
  EXPECT_TRUE(new_uuids(now, 0).empty());
}

TEST(Uuids, DerivedOnesDependOnTheirPartsAlone) {
  EXPECT_EQ(derived_uuid("parent", "token", 1), derived_uuid("parent", "token", 1));
  EXPECT_NE(derived_uuid("parent", "token", 1), derived_uuid("parent", "token", 2));
  EXPECT_NE(derived_uuid("ab", "c"), derived_uuid("a", "bc"));
  // Stored rows name them, so they may never change.
  EXPECT_EQ(derived_uuid("parent", "token", 1), "def402bd-3713-8926-96d4-c81c99df5394");
}

TEST(Uuids, DerivedOnesLieBesideTheirParent) {
  const std::string parent = "0190c0de-4a1b-7000-8000-00000000000a";
  const std::string id = derived_uuid(parent, "run", 3);
  EXPECT_EQ(id, "0190c0de-4a1b-800b-9edf-14462fa51c12");
  EXPECT_TRUE(is_uuid(id));
  EXPECT_NE(id, derived_uuid(parent, "run", 4));
  EXPECT_NE(id, derived_uuid("0190c0de-4a1b-7000-8000-00000000000b", "run", 3));
}

TEST(Uuids, OtherTextIsNone) {
  EXPECT_FALSE(is_uuid(""));
  EXPECT_FALSE(is_uuid("0190c0de-0000-7000-8000-00000000000"));
  EXPECT_FALSE(is_uuid("0190c0de-0000-7000-8000-00000000000g"));
  EXPECT_FALSE(is_uuid("0190c0de00000-7000-8000-000000000000"));
}

}  // namespace
}  // namespace cairn
