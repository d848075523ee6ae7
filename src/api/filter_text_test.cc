#include "api/filter_text.h"

#include <gtest/gtest.h>

namespace cairn::api {
namespace {

TEST(FilterText, NamesEveryFieldOfInstances) {
  InstanceFilter filter;
  const auto read = read_filter(
      "status:suspended definition:loan.approval version:1.0.0 ref:\"Loan 7\" part.customer:C1 part.branch:7 "
      "parent:i-1 from:2026-01-01 to:2026-02-01T12:00:00Z deleted:yes  some \"free words\"",
      filter);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(filter.status, Status::suspended);
  EXPECT_EQ(filter.definition, "loan.approval");
  EXPECT_EQ(filter.version, "1.0.0");
  EXPECT_EQ(filter.reference_key, "Loan 7");
  EXPECT_EQ(filter.reference_parts,
            (std::vector<std::pair<std::string, std::string>>{{"customer", "C1"}, {"branch", "7"}}));
  EXPECT_EQ(filter.parent, InstanceId{"i-1"});
  EXPECT_EQ(format_timestamp(*filter.started_from), format_timestamp(*parse_timestamp("2026-01-01T00:00:00Z")));
  EXPECT_TRUE(filter.deleted);
  EXPECT_EQ(filter.text, "some free words");
}

TEST(FilterText, NamesEveryFieldOfTasks) {
  TaskFilter filter;
  const auto read = read_filter(
      "status:assigned assignee:ada role:clerk role:boss name:Review ref:L1 instance:i due:2026-01-01 "
      "closed:no x",
      filter);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(filter.status, TaskStatus::assigned);
  EXPECT_EQ(filter.roles, (std::vector<std::string>{"clerk", "boss"}));
  EXPECT_EQ(filter.text, "x");
}

TEST(FilterText, SaysWhatIsWrong) {
  const auto message = [](std::string_view text) {
    InstanceFilter filter;
    const auto read = read_filter(text, filter);
    return read ? std::string("fine") : read.error().message;
  };
  EXPECT_EQ(message(""), "fine");
  EXPECT_EQ(message("12:30"), "fine");  // a time of day is text: names begin with a letter
  EXPECT_NE(message("state:x").find("unknown filter \"state\": status,"), std::string::npos);
  EXPECT_NE(message("status:lost").find("unknown status \"lost\""), std::string::npos);
  EXPECT_NE(message("ref:").find("ref: has no value"), std::string::npos);
  EXPECT_NE(message("ref:\"x").find("unclosed quote"), std::string::npos);
  EXPECT_NE(message("from:yesterday").find("is not a time"), std::string::npos);
  EXPECT_NE(message("deleted:perhaps").find("yes or no"), std::string::npos);
}

}  // namespace
}  // namespace cairn::api
