#include "store/lease_holder.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(LeaseHolder, IsReadBackAsItWasWritten) {
  for (const LeaseHolder& holder :
       {LeaseHolder{"w-1", "billing", "key:ab12"}, LeaseHolder{"", "billing", "key:ab12"},
        LeaseHolder{"a [b c]", "Ann Smith", "https://id.example#x [y] %20"}, LeaseHolder{"plain"},
        LeaseHolder{"with a space"}, LeaseHolder{"w", "", "key:ab12"}}) {
    const LeaseHolder back = LeaseHolder::parse(holder.text());
    EXPECT_EQ(back.label, holder.label);
    EXPECT_EQ(back.person, holder.person);
    EXPECT_EQ(back.account, holder.account);
  }
  EXPECT_EQ((LeaseHolder{"w-1", "billing", "key:ab12"}.text()), "w-1 [billing key:ab12]");
}

TEST(LeaseHolder, OnlyTheAccountThatLeasedHoldsTheLease) {
  const std::string stored = LeaseHolder{"w [x key:other]", "billing", "key:ab12"}.text();
  EXPECT_TRUE(holds_lease(stored, "key:ab12"));
  EXPECT_TRUE(holds_lease(stored, ""));
  EXPECT_FALSE(holds_lease(stored, "key:other"));
  EXPECT_FALSE(holds_lease("psql", "key:ab12"));
}

TEST(FenceStep, IsNeverZeroAndHardToGuess) {
  const std::uint64_t first = fence_step();
  bool differs = false;
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t step = fence_step();
    EXPECT_GT(step, 0u);
    EXPECT_LE(step, std::uint64_t{1} << 32);
    differs |= step != first;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace cairn
