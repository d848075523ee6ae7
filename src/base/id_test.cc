#include "base/id.h"

#include <gtest/gtest.h>

#include <set>
#include <type_traits>

#include "base/ordered_id.h"

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
  // Stored rows contain these ids, so they must never change.
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

TEST(Uuids, OrderedOnesSortByTheirCounter) {
  for (const std::string& parent : {std::string("0190c0de-4a1b-7000-8000-00000000000a"), std::string("nightly@noon")}) {
    std::string before;
    for (std::uint64_t counter = 0; counter < (std::uint64_t{1} << 26); counter = counter * 3 / 2 + 1) {
      const std::string id = ordered_uuid(parent, "wait", counter);
      EXPECT_TRUE(is_plain_uuid(id)) << id;
      EXPECT_LT(before, id) << counter;
      before = id;
    }
    EXPECT_NE(ordered_uuid(parent, "wait", 1), ordered_uuid(parent, "wait", 1 + (std::uint64_t{1} << 26)));
    EXPECT_NE(ordered_uuid(parent, "wait", 1), ordered_uuid(parent + "b", "wait", 1));
  }
  // Stored rows contain these ids, so they must never change.
  EXPECT_EQ(ordered_uuid("0190c0de-4a1b-7000-8000-00000000000a", "wait", 0x155'5555).substr(0, 23),
            "0190c0de-4a1b-8555-9555");
}

TEST(Uuids, HaveDigitsAndDashesAtTheirPlaces) {
  const std::string id = "0190c0de-4a1b-7000-8fab-000000d0000a";
  EXPECT_TRUE(is_plain_uuid(id));
  EXPECT_FALSE(is_plain_uuid(id.substr(1)));
  for (std::size_t at = 0; at < id.size(); ++at) {
    for (int c = 0; c < 256; ++c) {
      std::string other = id;
      other[at] = static_cast<char>(c);
      const bool dash = id[at] == '-';
      const bool small = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      const bool capital = c >= 'A' && c <= 'F';
      EXPECT_EQ(is_plain_uuid(other), dash ? c == '-' : small) << other;
      EXPECT_EQ(is_uuid(other), dash ? c == '-' : small || capital) << other;
    }
  }
}

TEST(Uuids, BytesAreWhatTheDigitsSay) {
  const UuidBytes bytes = {0x01, 0x90, 0xc0, 0xde, 0x4a, 0x1b, 0x70, 0x00,
                           0x8f, 0xab, 0x12, 0x34, 0x56, 0xd0, 0xef, 0x0a};
  EXPECT_EQ(uuid_bytes("0190c0de-4a1b-7000-8fab-123456d0ef0a"), bytes);
  EXPECT_EQ(uuid_bytes("0190C0DE-4A1B-7000-8FAB-123456D0EF0A"), bytes);
}

TEST(Uuids, OtherTextIsNone) {
  EXPECT_FALSE(is_uuid(""));
  EXPECT_FALSE(is_uuid("0190c0de-0000-7000-8000-00000000000"));
  EXPECT_FALSE(is_uuid("0190c0de-0000-7000-8000-00000000000g"));
  EXPECT_FALSE(is_uuid("0190c0de00000-7000-8000-000000000000"));
}

}  // namespace
}  // namespace cairn
