#include "base/log.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

class Log : public testing::Test {
 protected:
  void capture(LogFormat format, LogLevel level = LogLevel::info) {
    LogSettings settings;
    settings.format = format;
    settings.level = level;
    settings.write = [this](std::string_view line) { lines.emplace_back(line); };
    configure_log(settings);
  }
  ~Log() override { configure_log({}); }
  std::vector<std::string> lines;
};

TEST_F(Log, AnEventIsOneLineOfTextWhateverItsFieldsHold) {
  capture(LogFormat::text);
  log_info("engine.started", {{"store", "memory:"}, {"note", "two\nlines"}, {"workers", 4}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(" info engine.started store=memory: note=\"two\\nlines\" workers=4\n"), std::string::npos)
      << lines[0];
  EXPECT_EQ(std::count(lines[0].begin(), lines[0].end(), '\n'), 1);
}

TEST_F(Log, NoControlCharacterReachesALineOfText) {
  capture(LogFormat::text);
  for (char c = 1; c < 0x20; ++c) log_info("text.seen", {{"text", std::string("a") + c + "b"}});
  for (const std::string& line : lines) {
    EXPECT_TRUE(std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= 0x20; })) << line;
  }
}

TEST_F(Log, AFaultThatRepeatsIsCountedInsteadOfWritten) {
  auto now = std::chrono::steady_clock::time_point(std::chrono::hours(1));
  LogSettings settings;
  settings.write = [this](std::string_view line) { lines.emplace_back(line); };
  settings.repeats_max = 3;
  settings.repeats_window = std::chrono::seconds(10);
  settings.now = [&now] { return now; };
  configure_log(settings);
  for (int i = 0; i < 1000; ++i) log_error("timers.failed", Error{ErrorCode::unavailable, "the disk is full"});
  EXPECT_EQ(lines.size(), 3u);
  log_warning("another.event");
  for (int i = 0; i < 10; ++i) log_info("timers.failed");
  EXPECT_EQ(lines.size(), 14u) << "other events, and lines that report no fault, are written";
  now += std::chrono::seconds(10);
  log_error("timers.failed", Error{ErrorCode::unavailable, "the disk is full"});
  ASSERT_EQ(lines.size(), 15u);
  EXPECT_NE(lines.back().find("suppressed=997"), std::string::npos) << lines.back();
  log_error("timers.failed", Error{ErrorCode::unavailable, "the disk is full"});
  EXPECT_EQ(lines.back().find("suppressed"), std::string::npos) << lines.back();
}

TEST_F(Log, JsonLinesParse) {
  capture(LogFormat::json);
  log_error("timers.failed", Error{ErrorCode::unavailable, "the \"disk\" is gone"});
  ASSERT_EQ(lines.size(), 1u);
  const auto line = parse_json(lines[0]);
  ASSERT_TRUE(line) << lines[0];
  EXPECT_EQ(line->text_or("event", ""), "timers.failed");
  EXPECT_EQ(line->text_or("message", ""), "the \"disk\" is gone");
  EXPECT_EQ(line->text_or("code", ""), "unavailable");
}

TEST_F(Log, BelowTheLevelNothingIsWritten) {
  capture(LogFormat::text, LogLevel::warning);
  log_info("quiet");
  EXPECT_TRUE(lines.empty());
}

TEST_F(Log, ASecretNeverAppearsNotEvenEscaped) {
  capture(LogFormat::json);
  mask_in_logs("pa\"ss-canary");
  log_info("call", {{"header", "Bearer pa\"ss-canary"}, {"pa\"ss-canary", "x"}});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("canary"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace cairn
