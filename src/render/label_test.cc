#include "render/label.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace cairn::render {
namespace {

TEST(PlainText, KeepsWordsAndDropsWhatActs) {
  EXPECT_EQ(plain_text("  Check\tthe\n\napplication "), "Check the application");
  EXPECT_EQ(plain_text(std::string_view("a\0b\x1b[31mc\x7f", 10)), "a b [31mc");
  EXPECT_EQ(plain_text("pay \u202Eelif\u202C now"), "pay elif now");
  EXPECT_EQ(plain_text("a\u2066b\u2069c\u200Bd\uFEFFe"), "abcde");
  EXPECT_EQ(plain_text("مرحبا"), "مرحبا");
  EXPECT_EQ(plain_text("ok\xFF\xFE"), "ok\uFFFD\uFFFD");
  EXPECT_EQ(plain_text("a\uFFFF\U0001FFFEb"), "ab");
  EXPECT_LE(plain_text(std::string(100'000, 'x')).size(), label_bytes_max);
  EXPECT_LE(plain_text(std::string(label_bytes_max - 1, 'x') + " \u20AC").size(), label_bytes_max);
}

TEST(TextWidth, ComesFromTheTable) {
  // DejaVu Sans: i is 569 of 2048 units wide, W is 2025.
  EXPECT_EQ(text_width("i", 2048), 569);
  EXPECT_EQ(text_width("W", 2048), 2025);
  EXPECT_EQ(text_width("審", 20), 20);
  EXPECT_EQ(text_width("e\u0301", 2048), text_width("e", 2048));
  EXPECT_EQ(text_width("", 12), 0);
}

TEST(WrapText, BreaksAtSpacesThenInsideNamesThenAnywhere) {
  EXPECT_EQ(wrap_text("check the application", 12, 1000, 2), std::vector<std::string>{"check the application"});
  EXPECT_EQ(wrap_text("check the application", 12, 80, 2), (std::vector<std::string>{"check the", "application"}));
  EXPECT_EQ(wrap_text("payment.method.updated", 12, 110, 2), (std::vector<std::string>{"payment.method.", "updated"}));
  for (const std::string_view text : {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                                      "one two three four five six seven eight nine ten eleven twelve thirteen",
                                      "審審審審審審審審審審審審審審審審審審審審"}) {
    const std::vector<std::string> lines = wrap_text(text, 12, 100, 2);
    ASSERT_EQ(lines.size(), 2u) << text;
    EXPECT_TRUE(lines[1].ends_with("…")) << lines[1];
    for (const std::string& line : lines) {
      EXPECT_TRUE(is_utf8(line));
      EXPECT_LE(text_width(line, 12), 100) << line;
    }
  }
  EXPECT_TRUE(wrap_text("", 12, 100, 2).empty());
  EXPECT_EQ(wrap_text("W", 12, 2, 2).size(), 1u) << "no room at all still ends";
}

}  // namespace
}  // namespace cairn::render
