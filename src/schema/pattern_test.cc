#include "schema/pattern.h"

#include <gtest/gtest.h>

namespace cairn::schema {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  auto compiled = Pattern::compile(pattern);
  EXPECT_TRUE(compiled) << pattern << (compiled ? "" : ": " + compiled.error());
  return compiled && compiled->matches(text);
}

TEST(Pattern, ReadsTheEscapesOfEcmaScript) {
  EXPECT_TRUE(matches("^\\cA$", "\x01"));
  EXPECT_TRUE(matches("^\\u0041\\x42$", "AB"));
  EXPECT_TRUE(matches("^\\u{1F600}$", "😀"));
  EXPECT_TRUE(matches("^\\ud83d\\ude00$", "😀"));
  EXPECT_TRUE(matches("^[\\b]$", "\b"));
  EXPECT_TRUE(matches("^\\/\\-\\.$", "/-."));
  EXPECT_TRUE(matches("^\\s$", "\xc2\xa0"));
  EXPECT_FALSE(matches("^\\S$", "\xe2\x80\xa8"));
  EXPECT_TRUE(matches("^[^\\S]$", "\v"));
  EXPECT_FALSE(matches("^\\d$", "\xe0\xa7\xa8"));
  EXPECT_FALSE(matches("^\\w$", "é"));
  EXPECT_TRUE(matches("^\\p{Letter}\\p{Script=Greek}\\p{Lu}$", "éπA"));
  EXPECT_FALSE(matches("^\\P{L}$", "a"));
}

TEST(Pattern, AnchorsMeanTheWholeText) {
  EXPECT_FALSE(matches("^a$", "a\n"));
  EXPECT_FALSE(matches("^.$", "\r"));
  EXPECT_TRUE(matches("b", "abc"));
}

TEST(Pattern, ReadsClassesAsEcmaScriptDoes) {
  EXPECT_FALSE(matches("[]", "a"));
  EXPECT_TRUE(matches("^[^]$", "\n"));
  EXPECT_TRUE(matches("^[[:alpha:]]$", "a]"));
  EXPECT_TRUE(matches("^[a\\]-]+$", "a]-"));
  EXPECT_TRUE(matches("^(?<year>\\d{4})-x{,2}$", "2024-x{,2}"));
}

TEST(Pattern, RefusesWhatItCannotDo) {
  for (const std::string_view pattern :
       {"(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(a)\\1", "(?<n>a)\\k<n>", "(?i)a", "\\a", "\\Z", "a**", "(a", "a)",
        "[z-a]", "[\\d-z]", "\\", "\\u12", "\\p{Nonsense}", "\\ud800", "(a{1000}){1000}"}) {
    EXPECT_FALSE(Pattern::compile(pattern)) << pattern;
  }
  EXPECT_FALSE(Pattern::compile(std::string(20'000, 'a')));
}

}  // namespace
}  // namespace cairn::schema
