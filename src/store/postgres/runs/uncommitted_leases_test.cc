#include "store/postgres/runs/uncommitted_leases.h"

#include <gtest/gtest.h>

#include <vector>

namespace cairn::postgres {
namespace {

QueueKey key(std::int64_t priority, std::int64_t number, std::int64_t at = 0) {
  return {priority, Timestamp::of_unix_ms(at), number};
}

}  // namespace

TEST(UncommittedLeases, KeysAreInTheOrderOfTheQueue) {
  EXPECT_LT(key(2, 9), key(1, 1)) << "the higher priority first";
  EXPECT_LT(key(1, 9, 1), key(1, 1, 2)) << "then the earlier time";
  EXPECT_LT(key(1, 1, 1), key(1, 2, 1)) << "then the number";
  EXPECT_FALSE(key(1, 1) < key(1, 1));
}

TEST(UncommittedLeases, AStretchEndsWithItsTransaction) {
  UncommittedLeases all;
  EXPECT_FALSE(all.of("a"));
  {
    const auto first = all.begin({"a", key(0, 1), key(0, 5)});
    {
      const auto second = all.begin({"a", key(0, 6), key(0, 9)});
      EXPECT_EQ(all.of("a")->first, key(0, 6)) << "the newest";
    }
    EXPECT_EQ(all.of("a")->last, key(0, 5));
    EXPECT_FALSE(all.of("b"));
  }
  EXPECT_FALSE(all.of("a"));
}

// The following request finds a run that enters a skipped range. If everything that this request leased were skipped
// again, such a run could wait forever behind new runs of higher priority.
TEST(UncommittedLeases, AStretchDoesNotReachOverTheOneThatWasPassedOver) {
  const UncommittedLeases::Range passed{"a", key(5, 10), key(5, 19)};
  const std::vector<QueueKey> leased{key(9, 30), key(5, 20), key(5, 21), key(4, 22)};
  const auto range = UncommittedLeases::range_of("a", leased, passed);
  EXPECT_EQ(range.first, key(5, 20));
  EXPECT_EQ(range.last, key(4, 22));
  const std::vector<QueueKey> sooner{key(9, 30), key(8, 31), key(5, 20)};
  const auto front = UncommittedLeases::range_of("a", sooner, passed);
  EXPECT_EQ(front.first, key(9, 30));
  EXPECT_EQ(front.last, key(8, 31));
  const auto all = UncommittedLeases::range_of("a", leased, std::nullopt);
  EXPECT_EQ(all.first, key(9, 30));
  EXPECT_EQ(all.last, key(4, 22));
}

}  // namespace cairn::postgres
