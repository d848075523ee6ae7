#include "store/row_filters.h"

#include <gtest/gtest.h>

#include <chrono>

namespace cairn {
namespace {

TEST(RowFilters, TextIsFoundWhateverTheCase) {
  InstanceRow row;
  row.id = {"i-1"};
  row.program.name = "loan.Approval";
  row.reference.key = Json("LOAN-7");
  row.reference.parts = Json::object({{"customer", "Ada Lovelace"}, {"branch", 77}});
  InstanceFilter filter;
  for (const char* const text : {"", "approval", "LOAN.", "loan-7", "LACE", "77", "I-1"}) {
    filter.text = text;
    EXPECT_TRUE(matches(row, filter)) << text;
  }
  for (const char* const text : {"loan-8", "adalovelace", "i-11"}) {
    filter.text = text;
    EXPECT_FALSE(matches(row, filter)) << text;
  }
}

// A naive search would compare 4 MiB × 350 bytes here, which takes minutes.
TEST(RowFilters, ALongTextInALongTextTakesLinearTime) {
  InstanceRow row;
  row.reference.parts = Json::object({{"a", std::string(4u << 20, 'a')}});
  InstanceFilter filter;
  filter.text = std::string(350, 'a') + "b" + std::string(349, 'a');
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(matches(row, filter));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

}  // namespace
}  // namespace cairn
