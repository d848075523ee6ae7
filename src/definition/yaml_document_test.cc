#include "definition/yaml_document.h"

#include <gtest/gtest.h>

#include <random>

#include "definition/source.h"

namespace cairn {
namespace {

std::string written(const Json& value) { return write_yaml(YamlNode::of_json(value)); }

Json read_back(const std::string& text) {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(text, {}, findings);
  if (!findings.empty()) return Json("FAULT " + format_diagnostic("f", findings.front()));
  return document.root().to_json();
}

TEST(QuoteYaml, OnlyWhereItIsNeeded) {
  EXPECT_EQ(quote_yaml("approved", false), "approved");
  EXPECT_EQ(quote_yaml("= state.a > 1", false), "= state.a > 1");
  EXPECT_EQ(quote_yaml("= [1, 2]", false), "= [1, 2]");
  EXPECT_EQ(quote_yaml("= [1, 2]", true), "'= [1, 2]'");
  EXPECT_EQ(quote_yaml("https://x.example/a?b", false), "https://x.example/a?b");
  EXPECT_EQ(quote_yaml("1.0", false), "'1.0'");
  EXPECT_EQ(quote_yaml("1.0.0", false), "1.0.0");
  EXPECT_EQ(quote_yaml("no", false), "'no'");
  EXPECT_EQ(quote_yaml("null", false), "'null'");
  EXPECT_EQ(quote_yaml("", false), "''");
  EXPECT_EQ(quote_yaml("a: b", false), "'a: b'");
  EXPECT_EQ(quote_yaml("a #b", false), "'a #b'");
  EXPECT_EQ(quote_yaml("it's: so", false), "\"it's: so\"");
  EXPECT_EQ(quote_yaml("= 'a' + \": \"", false), "'= ''a'' + \": \"'");
  EXPECT_EQ(quote_yaml("a\tb", false), "\"a\\tb\"");
}

TEST(WriteYaml, ShortThingsOnOneLine) {
  EXPECT_EQ(written(Json::object({{"retry", Json::object({{"attempts", 5}, {"backoff", "1s"}})},
                                  {"roles", Json::array({"a", "b"})},
                                  {"none", Json::object()}})),
            "none: {}\nretry: { attempts: 5, backoff: 1s }\nroles: [a, b]\n");
}

TEST(WriteYaml, LongThingsAsBlocks) {
  Json list = Json::array();
  for (int i = 0; i < 3; ++i) list.push_back(Json(std::string(40, static_cast<char>('a' + i))));
  EXPECT_EQ(written(Json::object({{"x", Json::object({{"list", list}})}})),
            "x:\n  list:\n    - " + std::string(40, 'a') + "\n    - " + std::string(40, 'b') + "\n    - " +
                std::string(40, 'c') + "\n");
}

TEST(WriteYaml, TextOfSeveralLinesAsALiteralBlock) {
  EXPECT_EQ(written(Json::object({{"a", "x\n  y\nz"}, {"b", "one\n"}, {"c", "end\n\n"}})),
            "a: |-\n  x\n    y\n  z\nb: |\n  one\nc: |+\n  end\n\n");
}

class RandomJson {
 public:
  explicit RandomJson(unsigned seed) : random_(seed) {}

  Json value(int depth) {
    switch (random_() % (depth > 0 ? 9 : 6)) {
      case 0: return Json();
      case 1: return Json(random_() % 2 == 0);
      case 2: return Json(static_cast<long long>(random_()) - 1'000'000);
      case 3: return Json(static_cast<double>(random_()) / 7.0);
      case 4:
      case 5: return Json(text());
      case 6: return object(depth - 1);
      case 7: return object(depth - 1);
      default: {
        Json list = Json::array();
        for (auto i = random_() % 5; i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
    }
  }

  Json object(int depth) {
    Json made = Json::object();
    for (auto i = random_() % 5; i > 0; --i) made.set(text(), value(depth));
    return made;
  }

  std::string text() {
    static const std::vector<std::string> parts = {"a",
                                                   "b",
                                                   "1",
                                                   "0x",
                                                   ".",
                                                   "-",
                                                   "- ",
                                                   ":",
                                                   ": ",
                                                   " ",
                                                   "  ",
                                                   "#",
                                                   " #",
                                                   "\n",
                                                   "\n\n",
                                                   "\t",
                                                   "'",
                                                   "\"",
                                                   "\\",
                                                   "=",
                                                   "[",
                                                   "]",
                                                   "{",
                                                   "}",
                                                   ",",
                                                   "&",
                                                   "*",
                                                   "!",
                                                   "|",
                                                   ">",
                                                   "%",
                                                   "@",
                                                   "`",
                                                   "?",
                                                   "? ",
                                                   "~",
                                                   "true",
                                                   "null",
                                                   "<<",
                                                   "---",
                                                   "...",
                                                   "\xC3\xBC",
                                                   "\xE2\x80\xA8",
                                                   "\xC2\x85",
                                                   "\xEF\xBB\xBF",
                                                   "\xF0\x9F\x98\x80",
                                                   "\r",
                                                   "\r\n",
                                                   "\x07",
                                                   "\x7F"};
    std::string made;
    for (auto i = random_() % 8; i > 0; --i) made += parts[random_() % parts.size()];
    return made;
  }

 private:
  std::mt19937 random_;
};

TEST(WriteYaml, AnyJsonReadsBackTheSame) {
  for (unsigned seed = 0; seed < 5000; ++seed) {
    const Json value = RandomJson(seed).object(4);
    const std::string text = written(value);
    if (value.size() == 0) continue;
    ASSERT_EQ(write_json(read_back(text)), write_json(value)) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace cairn
