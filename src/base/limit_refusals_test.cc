#include "base/limit_refusals.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/log.h"

namespace cairn {
namespace {

TEST(LimitRefusals, AnErrorNamesItsLimitAndValue) {
  const Error error = limit_error("limits.comment_bytes_max", 16'384, "the comment has 20000 bytes");
  EXPECT_EQ(error.code, ErrorCode::limit);
  EXPECT_EQ(error.message, "the comment has 20000 bytes (limit limits.comment_bytes_max = 16384)");
  EXPECT_EQ(limit_of(error), (LimitRefusal{"limits.comment_bytes_max", 16'384}));
  EXPECT_EQ(limit_of({ErrorCode::limit, "too much"}), std::nullopt);
  EXPECT_EQ(limit_of({ErrorCode::invalid, error.message}), std::nullopt);
}

TEST(LimitRefusals, AnOverloadIsUnavailableAndNamesItsLimitToo) {
  const Error error = overload_error("commit_queue", 65'536, "too many commits wait");
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_EQ(limit_of(error), (LimitRefusal{"commit_queue", 65'536}));
  EXPECT_EQ(limit_of({ErrorCode::unavailable, "the store is away"}), std::nullopt);
}

TEST(LimitRefusals, CountsEachRefusalAndLogsOneLineForMany) {
  std::vector<std::string> lines;
  configure_log({LogLevel::info, LogFormat::json, [&lines](std::string_view line) { lines.emplace_back(line); }});
  for (int i = 0; i < 100; ++i) count_limit_refusal("test.many", 7);
  configure_log({});
  EXPECT_EQ(limit_refusals()["test.many"], 100u);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("\"limit\":\"test.many\""), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace cairn
