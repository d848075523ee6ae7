#include "store/postgres/cluster/presence.h"

#include <gtest/gtest.h>

namespace cairn::postgres {

namespace {

constexpr std::int64_t self = 5;
constexpr std::int64_t other = 9;

Presence alone() {
  Presence presence(self);
  presence.asked();
  presence.listed({{self, true}});
  return presence;
}

}  // namespace

TEST(Presence, BeforeTheFirstListEverythingIsTold) {
  Presence presence(self);
  EXPECT_TRUE(presence.worth_telling());
  presence.asked();
  EXPECT_FALSE(presence.listed({{self, true}}).must_look);
  EXPECT_FALSE(presence.worth_telling());
  presence.doubt();
  EXPECT_TRUE(presence.worth_telling());
}

TEST(Presence, WhoComesBetweenTheQuestionAndItsAnswerStays) {
  Presence presence = alone();
  presence.asked();
  presence.came(other, true);
  EXPECT_FALSE(presence.listed({{self, true}}).gone) << "the list is older than its coming";
  EXPECT_TRUE(presence.worth_telling());
  EXPECT_EQ(presence.share().nodes, 2);
  presence.asked();
  EXPECT_TRUE(presence.listed({{self, true}}).gone) << "and now it is not";
}

TEST(Presence, ANewcomerLooksAgainWhenSomethingWasKeptFromIt) {
  Presence presence = alone();
  EXPECT_FALSE(presence.worth_telling());
  EXPECT_TRUE(presence.came(other, false)) << "it may have looked before that was committed";
  EXPECT_FALSE(presence.came(other, true)) << "once";
  EXPECT_FALSE(presence.listed({{self, true}, {other, true}}).must_look);
}

TEST(Presence, ANewcomerThatWasOnlyListedLooksToo) {
  Presence presence = alone();
  EXPECT_FALSE(presence.worth_telling());
  presence.asked();
  EXPECT_TRUE(presence.listed({{self, true}, {other, false}}).must_look);
}

TEST(Presence, NothingKeptNothingToLookFor) {
  Presence presence = alone();
  EXPECT_FALSE(presence.came(other, true));
}

TEST(Presence, OnlyThoseWhoTakeWorkShareIt) {
  Presence presence(self);
  EXPECT_EQ(presence.share().nodes, 1);
  presence.listed({{2, true}, {3, false}, {self, true}, {other, true}});
  EXPECT_EQ(presence.share().nodes, 3);
  EXPECT_EQ(presence.share().place, 1);
}

}  // namespace cairn::postgres
