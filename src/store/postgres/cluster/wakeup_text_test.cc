#include "store/postgres/cluster/wakeup_text.h"

#include <gtest/gtest.h>

namespace cairn::postgres {
namespace {

const Timestamp now = Timestamp::of_unix_ms(1'700'000'000'000);

TEST(WakeupText, ComesBackAsItWas) {
  Wakeup wakeup;
  wakeup.messages = wakeup.outbox = true;
  wakeup.due = Timestamp::of_unix_ms(1'700'000'123'456);
  wakeup.ended = {{"a"}, {"b-2"}};
  const auto texts = write_wakeup(wakeup, 100);
  ASSERT_EQ(texts.size(), 1u);
  const Wakeup read = read_wakeup(texts[0], now);
  EXPECT_TRUE(read.messages && read.outbox && !read.runs && !read.definitions);
  EXPECT_EQ(read.due, wakeup.due);
  EXPECT_EQ(read.ended, wakeup.ended);
}

TEST(WakeupText, NamesEveryIdAsItIs) {
  Wakeup wakeup;
  wakeup.ended = {{"a,b"}, {"100%"}, {"%2C"}, {"c%25,d"}, {"x|y"}};
  Wakeup read;
  for (const std::string& text : write_wakeup(wakeup, 12)) merge_wakeup(read, read_wakeup(text, now));
  EXPECT_EQ(read.ended, wakeup.ended);
}

TEST(WakeupText, IsSplitWhereItWouldBeTooLong) {
  Wakeup wakeup;
  wakeup.runs = true;
  for (int i = 0; i < 100; ++i) wakeup.ended.push_back({"instance-" + std::to_string(i)});
  Wakeup read;
  for (const std::string& text : write_wakeup(wakeup, 64)) {
    EXPECT_LE(text.size(), 64u);
    merge_wakeup(read, read_wakeup(text, now));
  }
  EXPECT_TRUE(read.runs);
  EXPECT_EQ(read.ended, wakeup.ended);
}

TEST(WakeupText, TooManyToNameBecomesALookAtEverything) {
  Wakeup all, one;
  for (int i = 0; i < 5000; ++i) {
    one.ended = {{"instance-" + std::to_string(i)}};
    merge_wakeup(all, one);
  }
  ASSERT_EQ(all.ended.size(), 1u);
  const auto texts = write_wakeup(all, 100);
  ASSERT_EQ(texts.size(), 1u);
  const Wakeup read = read_wakeup(texts[0], now);
  EXPECT_TRUE(read.messages && read.runs && read.outbox && read.definitions);
  EXPECT_EQ(read.due, now);
}

TEST(WakeupText, WhatIsNotUnderstoodIsLeftOut) {
  EXPECT_TRUE(says_nothing(read_wakeup("?!", now)));
  EXPECT_TRUE(read_wakeup("?m", now).messages);
  EXPECT_TRUE(says_nothing(read_wakeup("", now)));
}

}  // namespace
}  // namespace cairn::postgres
