#include "node/loops.h"

#include <gtest/gtest.h>

namespace cairn::node {
namespace {

TEST(Loops, WorkThatCannotBeDoneNowIsTriedAgainAfterAPause) {
  const Timestamp looked_at = Timestamp::of_unix_ms(1'700'000'000'000);
  const Timestamp earlier = Timestamp::of_unix_ms(1'699'999'000'000);
  const Timestamp later = Timestamp::of_unix_ms(1'700'000'000'001);
  const Timestamp pause_over = Timestamp::of_unix_ms(1'700'000'001'000);
  EXPECT_EQ(next_look(std::nullopt, looked_at), std::nullopt);
  EXPECT_EQ(next_look(later, looked_at), later);
  EXPECT_EQ(next_look(looked_at, looked_at), pause_over) << "it was due in this pass";
  EXPECT_EQ(next_look(earlier, looked_at), pause_over);
}

}  // namespace
}  // namespace cairn::node
