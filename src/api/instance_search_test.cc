#include "api/instance_search.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "store/memory/memory_store.h"

namespace cairn::api {
namespace {

TEST(InstanceSearch, ComparesValuesByTheirText) {
  const Json state = *parse_json(R"({"a":{"b":[{"c":"Bern"},7]},"n":9007199254740993,"x":null,"t":"7"})");
  EXPECT_TRUE(has_values(state, {{"a.b.0.c", "Bern"}, {"a.b.1", "7"}, {"n", "9007199254740993"}, {"t", "7"}}));
  EXPECT_TRUE(has_values(state, {{"x", "null"}}));
  EXPECT_FALSE(has_values(state, {{"a.b.0.c", "bern"}}));
  for (const char* const path : {"a.b.2", "a.b.x", "n.a", "y", "a.b.0.c.d", "a..b"}) {
    EXPECT_FALSE(has_values(state, {{path, "7"}})) << path;
  }
}

class SearchTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 1'000; ++i) {
      Unit unit;
      Advance advance;
      advance.after.instance = {"i" + std::to_string(i)};
      advance.after.program = {"p", "1", std::string(64, 'a')};
      advance.after.state_version = 1;
      advance.after.status = Status::waiting;
      advance.after.state = Json::object({{"city", i % 100 == 0 ? "Bern" : "Basel"}});
      unit.advances.push_back(advance);
      ASSERT_TRUE(store_.commit({&unit, 1}).has_value());
    }
    filter_.data = {{"city", "Bern"}};
  }
  static std::vector<std::string> ids(const Page<InstanceRow>& page) {
    std::vector<std::string> list;
    for (const InstanceRow& row : page.items) list.push_back(row.id.value);
    return list;
  }

  ManualClock clock_{Timestamp::of_unix_ms(1'800'000'000'000)};
  MemoryStore store_{clock_};
  InstanceFilter filter_;
};

TEST_F(SearchTest, FindsEachInstanceOnceOverAllPages) {
  std::vector<std::string> found;
  PageRequest page{3, ""};
  do {
    const auto rows = InstanceSearch(store_).list(filter_, page);
    ASSERT_TRUE(rows.has_value());
    EXPECT_LE(rows->items.size(), 3u);
    for (const std::string& id : ids(*rows)) found.push_back(id);
    page.cursor = rows->next_cursor;
  } while (!page.cursor.empty());
  EXPECT_EQ(found,
            (std::vector<std::string>{"i900", "i800", "i700", "i600", "i500", "i400", "i300", "i200", "i100", "i0"}));
}

TEST_F(SearchTest, EndsAPageWhenItHasReadEnough) {
  std::vector<std::string> found;
  PageRequest page{100, ""};
  int pages = 0;
  do {
    const auto rows = InstanceSearch(store_, 150).list(filter_, page);
    ASSERT_TRUE(rows.has_value());
    for (const std::string& id : ids(*rows)) found.push_back(id);
    page.cursor = rows->next_cursor;
    ++pages;
  } while (!page.cursor.empty());
  EXPECT_EQ(found.size(), 10u);
  EXPECT_GE(pages, 6);
}

}  // namespace
}  // namespace cairn::api
