#include "definition/source.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

struct Reading {
  SourceDocument document;
  std::vector<Diagnostic> findings;
};

Reading read(std::string_view text) {
  Reading reading;
  reading.document = SourceDocument::read(text, {}, reading.findings);
  return reading;
}

std::string json_of(std::string_view text) {
  const Reading reading = read(text);
  if (!reading.findings.empty()) return format_diagnostic("f", reading.findings.front());
  return write_json(reading.document.root().to_json());
}

// All findings, one per line.
std::string findings_of(std::string_view text) {
  std::string lines;
  for (const Diagnostic& finding : read(text).findings) {
    lines += std::to_string(finding.line) + ":" + std::to_string(finding.column) + " " + finding.message + " [" +
             finding.pointer + "]\n";
  }
  return lines;
}

std::string at(const SourcePlace& place) { return to_string(place); }

TEST(Yaml, PlainScalarsFollowTheCoreSchema) {
  EXPECT_EQ(json_of("[true, false, null, ~, True, NULL]"), "[true,false,null,null,true,null]");
  EXPECT_EQ(json_of("[no, yes, on, off, y, n]"), R"(["no","yes","on","off","y","n"])");
  EXPECT_EQ(json_of("[1.10.0, 2024-01-31, 12:30:45, 1_000, 0b11]"),
            R"(["1.10.0","2024-01-31","12:30:45","1_000","0b11"])");
  EXPECT_EQ(json_of("[0x1F, 0o17, 010, +5, -7, 1e3, .5, 5., -1.5E-2]"), "[31,15,10,5,-7,1000.0,0.5,5.0,-0.015]");
  EXPECT_EQ(json_of("[9223372036854775807, -9223372036854775808]"), "[9223372036854775807,-9223372036854775808]");
  EXPECT_EQ(json_of("[9223372036854775808]"), "[9223372036854775808.0]");
  EXPECT_EQ(json_of("[0x, 0xG, 0o8, '1', \"true\", \"\", '~', ., +, -x]"),
            R"(["0x","0xG","0o8","1","true","","~",".","+","-x"])");
  EXPECT_EQ(json_of("a:\nb: \n"), R"({"a":null,"b":null})");
}

TEST(Yaml, NumbersThatJsonCannotHoldAreRefused) {
  EXPECT_EQ(findings_of("a: .nan\nb: -.inf\nc: [1e999]\n"),
            "1:4 `.nan` is not a JSON number; put it in quotes to mean text [/a]\n"
            "2:4 `-.inf` is not a JSON number; put it in quotes to mean text [/b]\n"
            "3:5 the number is too large for a double [/c/0]\n");
}

TEST(Yaml, CoreTagsConvertAndOthersAreRefused) {
  EXPECT_EQ(json_of("[!!str 5, !!int \"7\", !!float 3, !!bool true, !!null ~, ! 9, !!map {a: 1}, !!seq [x]]"),
            R"(["5",7,3.0,true,null,"9",{"a":1},["x"]])");
  EXPECT_EQ(findings_of("a: !foo bar\nb: !!python/object:os.system x\nc: !!set {x}\nd: !!int x\n"),
            "1:4 the tag `!foo` is not allowed here; definitions hold plain JSON values [/a]\n"
            "2:4 the tag `!!python/object:os.system` is not allowed here; definitions hold plain JSON values [/b]\n"
            "3:4 the tag `!!set` is not allowed here; definitions hold plain JSON values [/c]\n"
            "4:4 the tag `!!int` is not allowed here; definitions hold plain JSON values [/d]\n");
}

TEST(Yaml, KeysAreText) {
  EXPECT_EQ(json_of("1: a\ntrue: b\n1.5: c\n'x y': d\n"), R"({"1":"a","1.5":"c","true":"b","x y":"d"})");
  EXPECT_EQ(findings_of("a: 1\n~: d\n"), "2:1 null cannot be a key; keys are text, so put it in quotes [/~0]\n");
  EXPECT_EQ(findings_of("? [x]\n: e\n"), "1:3 a list or map cannot be a key; keys are text []\n");
  EXPECT_EQ(json_of("a: &k name\n*k : b\n"), R"({"a":"name","name":"b"})");
}

TEST(Yaml, MembersKeepTheirOrder) {
  const Reading reading = read("z: 1\na: 2\nm: 3\n");
  ASSERT_EQ(reading.document.root().members.size(), 3u);
  EXPECT_EQ(reading.document.root().members[0].key, "z");
  EXPECT_EQ(reading.document.root().members[2].key, "m");
  EXPECT_EQ(reading.document.root().find("a")->scalar, Json(2));
  EXPECT_EQ(reading.document.root().find("b"), nullptr);
}

TEST(Yaml, NothingButCommentsIsAnEmptyFile) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "--- # x\n...\n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(findings_of(text), "1:1 the file is empty []\n") << text;
    EXPECT_FALSE(read(text).document.usable());
  }
}

TEST(Yaml, DuplicateKeysNameTheFirstLine) {
  EXPECT_EQ(findings_of("a: 1\nb:\n  - c: 1\n    d: 2\n    c: 3\na: 2\na: 4\n"),
            "5:5 duplicate key `c`; line 3 has it already [/b/0/c]\n"
            "6:1 duplicate key `a`; line 1 has it already [/a]\n"
            "7:1 duplicate key `a`; line 1 has it already [/a]\n");
  EXPECT_EQ(findings_of("{\"a\": 1,\n \"b\": {\"x\": 1, \"x\": 2}}"),
            "2:16 duplicate key `x`; line 2 has it already [/b/x]\n");
  // The first value stays, so that the rest of the file can be checked.
  EXPECT_EQ(write_json(read("a: 1\na: 2\n").document.root().to_json()), R"({"a":1})");
}

TEST(Yaml, MergeKeysAreRefused) {
  EXPECT_EQ(
      findings_of("a: &x {p: 1}\nb:\n  <<: *x\n  q: 2\n"),
      "3:3 merge keys (`<<`) are not supported; write the members out, or use an alias for a whole value [/b/<<]\n");
  EXPECT_EQ(json_of("'<<': 1"), R"({"<<":1})");
}

TEST(Yaml, OneDocumentOnly) {
  EXPECT_EQ(findings_of("a: 1\n---\nb: 2\n"), "2:1 a second document begins here; a file holds one definition []\n");
  EXPECT_EQ(json_of("---\na: 1\n...\n"), R"({"a":1})");
}

TEST(Aliases, AreCopiesThatStandWhereTheyAreUsed) {
  const Reading reading = read("a: &x\n  - one\n  - = two\nb: *x\n");
  ASSERT_TRUE(reading.findings.empty());
  const SourceNode& copy = *reading.document.root().find("b");
  EXPECT_EQ(write_json(copy.to_json()), R"(["one","= two"])");
  EXPECT_EQ(at(copy.at), "4:4");
  EXPECT_EQ(at(copy.items[1].at), "3:5");
  EXPECT_EQ(at(reading.document.place_in(copy.items[1], 2)), "3:7");
}

TEST(Aliases, AreCountedBeforeTheyAreExpanded) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? "," : "") + before;
    bomb += "]\n";
  }
  EXPECT_EQ(findings_of(bomb), "5:38 the alias `*a3` expands the document to more than 100000 nodes [/a4/7]\n");
}

TEST(Aliases, UpToTheLimitAreFine) {
  Limits limits;
  limits.definition_nodes_max = 10;
  std::vector<Diagnostic> findings;
  EXPECT_TRUE(SourceDocument::read("a: &a [x, y, z]\nb: *a\nc: 1\n", limits, findings).usable());
  EXPECT_TRUE(findings.empty());
  EXPECT_FALSE(SourceDocument::read("a: &a [x, y, z]\nb: *a\nc: 1\nd: *a\n", limits, findings).usable());
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].line, 4);
}

TEST(Source, HasAsManyNodesAsTheLimitSaysWithoutAliasesToo) {
  Limits limits;
  limits.definition_nodes_max = 5;
  for (const char* const text : {"a: [1, 2, 3]\n", "{\"a\": [1, 2, 3]}"}) {
    std::vector<Diagnostic> findings;
    EXPECT_TRUE(SourceDocument::read(text, limits, findings).usable()) << text;
    EXPECT_TRUE(findings.empty());
  }
  for (const char* const text : {"a: [1, 2, 3, 4]\n", "{\"a\": [1, 2, 3, 4]}"}) {
    std::vector<Diagnostic> findings;
    EXPECT_FALSE(SourceDocument::read(text, limits, findings).usable()) << text;
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].message, "the document has 6 nodes, more than the limit of 5");
  }
}

TEST(Aliases, CannotHoldThemselvesOrComeBeforeTheirAnchor) {
  EXPECT_EQ(findings_of("a: &a [1, *a]\n"), "1:11 the alias `*a` is inside the node that it names [/a/1]\n");
  EXPECT_EQ(findings_of("a: *zz\n"), "1:4 the alias `*zz` names an anchor `&zz` that does not come before it [/a]\n");
}

TEST(Aliases, DoNotGetAroundTheDepthLimit) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "a" + std::to_string(i);
    text += name + ": &" + name + " [[[[[[[[[" + (i == 0 ? "x" : "*a" + std::to_string(i - 1)) + "]]]]]]]]]\n";
  }
  EXPECT_NE(findings_of(text).find("nests the document deeper than 128 levels"), std::string::npos);
}

TEST(Depth, EndsAtTheLimitWithAPlace) {
  EXPECT_TRUE(read(std::string(128, '[') + std::string(128, ']')).document.usable());
  for (const char* unit : {"[", "- ", "{a: ", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += unit;
    const std::string place = "1:" + std::to_string(128 * std::string_view(unit).size() + 1);
    EXPECT_TRUE(findings_of(text).starts_with(place + " nested deeper than 128 levels")) << findings_of(text);
  }
}

TEST(Encodings, AreNamed) {
  using namespace std::string_view_literals;
  EXPECT_EQ(findings_of("\xFF\xFEn\0a\0"sv), "1:1 the file is UTF-16; save it as UTF-8 []\n");
  EXPECT_EQ(findings_of("\xFE\xFF\0n\0a"sv), "1:1 the file is UTF-16; save it as UTF-8 []\n");
  EXPECT_EQ(findings_of("n\0a\0m\0"sv), "1:1 the file is UTF-16; save it as UTF-8 []\n");
  EXPECT_EQ(findings_of("\xFF\xFE\0\0n\0\0\0"sv), "1:1 the file is UTF-32; save it as UTF-8 []\n");
  EXPECT_EQ(findings_of("a: 1\nname: caf\xE9\n"sv), "2:10 not valid UTF-8; save the file as UTF-8 []\n");
  EXPECT_EQ(findings_of("a: b\0"sv), "1:5 a NUL byte; this is a binary file, not a definition []\n");
  EXPECT_EQ(findings_of("a: \"\x07\"\n"), "1:5 the control character U+0007 is not allowed; is this a text file? []\n");
  EXPECT_EQ(json_of("\xEF\xBB\xBF"
                    "a: 1\n"),
            R"({"a":1})");
  EXPECT_EQ(at(read("\xEF\xBB\xBF"
                    "a: 1\n")
                   .document.root()
                   .find("a")
                   ->at),
            "1:4");
}

TEST(Encodings, LineBreaksThatOnlySomeReadersKnowAreRefused) {
  EXPECT_EQ(findings_of("a: 1 # x\xE2\x80\xA8"
                        "b: 2\n"),
            "1:9 the line break U+2028 is not allowed; write \"\\u2028\" in double quotes []\n");
  EXPECT_EQ(findings_of("a: 'x\xE2\x80\xA9'\n"),
            "1:6 the line break U+2029 is not allowed; write \"\\u2029\" in double quotes []\n");
  EXPECT_EQ(findings_of("a: 1\xC2\x85"
                        "b: 2\n"),
            "1:5 the line break U+0085 is not allowed; write \"\\u0085\" in double quotes []\n");
  EXPECT_EQ(findings_of("a: \"x\xC2\x85y\"\n"),
            "1:6 the line break U+0085 is not allowed; write \"\\u0085\" in double quotes []\n")
      << "the parser would make a space of it";
  EXPECT_EQ(json_of("a: \"x\\u0085y\"\n"), "{\"a\":\"x\xC2\x85y\"}");
  EXPECT_EQ(json_of("a: \"\\u2028\"\n"), "{\"a\":\"\xE2\x80\xA8\"}");
  EXPECT_EQ(json_of("{\"a\": \"\xE2\x80\xA8\"}"), "{\"a\":\"\xE2\x80\xA8\"}") << "JSON knows no such line breaks";
}

TEST(Encodings, TextWithoutACharacterIsRefused) {
  EXPECT_EQ(findings_of("a: \"x\\u0000\"\n"), "1:6 U+0000 is not allowed in text [/a]\n");
  EXPECT_EQ(findings_of("\"a\\0\": 1\n"), "1:1 U+0000 is not allowed in text []\n");
  EXPECT_EQ(findings_of("a: \"\\ud800\"\n"),
            "1:5 the escape does not name a character; a lone surrogate is not allowed in text [/a]\n");
  EXPECT_EQ(findings_of("{\"a\": \"\\ud800\"}"), "1:8 a lone surrogate is not allowed in text []\n");
  EXPECT_EQ(json_of("{\"a\": \"\\ud83d\\ude00\"}"), "{\"a\":\"\xF0\x9F\x98\x80\"}");
}

TEST(Size, IsCheckedBeforeAnythingIsRead) {
  const std::string text = "a: " + std::string(5u << 20, '[');
  EXPECT_EQ(findings_of(text), "1:1 the file has 5242883 bytes, more than the limit of 4194304 []\n");
}

TEST(YamlMistakes, ATabIsNamed) {
  const std::string message = " a tab is used to indent; YAML indents with spaces only";
  EXPECT_TRUE(findings_of("a:\n\tb: 1\n").starts_with("2:1" + message));
  EXPECT_TRUE(findings_of("\ta: 1\n").starts_with("1:1" + message));
  EXPECT_TRUE(findings_of("a:\n  b: 1\n\tc: 2\n").starts_with("3:1" + message));
  EXPECT_TRUE(findings_of("steps:\n  - id: x\n  \t  set: {}\n").starts_with("3:3" + message));
  EXPECT_TRUE(findings_of("steps:\n  - id: x\n\t- id: y\n").starts_with("3:1" + message));
}

TEST(YamlMistakes, AnUnclosedBracketNamesItsPlace) {
  EXPECT_EQ(findings_of("a: 1\nb: [1, 2\nc: 3\n"), "2:4 the `[` opened at 2:4 is never closed [/b/2]\n");
  EXPECT_EQ(findings_of("a: 1\nb: { x: 1\nc: 3\n"), "2:4 the `{` opened at 2:4 is never closed [/b]\n");
  EXPECT_EQ(findings_of("steps:\n  - set: { a: 1\n  - set: { b: 2 }\n"),
            "2:10 the `{` opened at 2:10 is never closed [/steps/0/set]\n");
  EXPECT_EQ(findings_of("a: [1, 2\n"), "1:4 the `[` opened at 1:4 is never closed [/a/2]\n");
  EXPECT_EQ(findings_of("a: [ {x: 1 ]\n"), "1:6 the `{` opened at 1:6 is never closed [/a/0]\n");
  EXPECT_EQ(findings_of("{\"a\": 1, \"b\": [1,2"), "1:15 the `[` opened at 1:15 is never closed [/b/2]\n");
  EXPECT_EQ(findings_of("a: [\"x\" \"y\"]\n"), "1:9 expected `,` or `]` here, in the `[` opened at 1:4 [/a/1]\n");
}

TEST(YamlMistakes, AnUnclosedQuoteNamesItsPlace) {
  EXPECT_EQ(findings_of("a: \"abc\nb: 1\n"), "1:4 the quote `\"` opened at 1:4 is never closed [/a]\n");
  EXPECT_EQ(findings_of("a: 'abc\nb: 1\n"), "1:4 the quote `'` opened at 1:4 is never closed [/a]\n");
  EXPECT_EQ(findings_of("name: \"abc\nversion: \"1.0\"\nx: 1\n"),
            "1:7 the quote opened at 1:7 is closed only at 2:11; is its end missing? []\n");
}

TEST(YamlMistakes, AreToldInPlainWords) {
  EXPECT_EQ(findings_of("a: b: c\n"),
            "1:5 a `:` is not allowed here; check the indentation, and put text that contains `: ` in quotes []\n");
  EXPECT_EQ(findings_of("a:\n  - b\n c: 1\n"),
            "3:2 this does not fit the map that begins at 1:1; check the indentation and the quotes []\n");
  EXPECT_EQ(findings_of("a: 1\nfoo\nb: 2\n"),
            "2:1 expected `:` after this key; text that is no key belongs on the line of its key []\n");
  EXPECT_EQ(findings_of("cron: * * * * *\n"), "1:7 `*` begins an alias in YAML; put the text in quotes [/cron]\n");
  EXPECT_EQ(findings_of("a: ]\n"), "1:4 expected a value, found `]`; put text that begins so in quotes [/a]\n");
  EXPECT_EQ(findings_of("a: @b\n"), "1:4 text cannot begin with `@`; put it in quotes [/a]\n");
  EXPECT_EQ(findings_of("a: \"\\q\"\n"),
            "1:5 unknown escape `\\q` in double quotes; write `\\\\` for a backslash, or use single quotes [/a]\n");
  EXPECT_EQ(findings_of("{\"a\": 1 \"b\": 2}"), "1:9 expected `,` or `}` in the object []\n");
}

TEST(JsonSource, IsReadAsJsonAndKeepsPlaces) {
  const Reading reading = read("{\n  \"b\": [1, \"x\"],\n  \"a\": {\"c\": null}\n}\n");
  ASSERT_TRUE(reading.findings.empty());
  EXPECT_EQ(at(reading.document.root().at), "1:1");
  EXPECT_EQ(reading.document.root().members[0].key, "b");
  EXPECT_EQ(at(reading.document.root().members[0].key_at), "2:3");
  EXPECT_EQ(at(reading.document.root().find("b")->items[1].at), "2:12");
  EXPECT_EQ(at(reading.document.root().find("a")->find("c")->at), "3:14");
  // A flow map is YAML, not JSON.
  EXPECT_EQ(json_of("{a: 1, b: = x}"), R"({"a":1,"b":"= x"})");
}

TEST(FormatDiagnostic, IsOneLine) {
  const Diagnostic finding{Diagnostic::Severity::warning, 3, 7, "unknown key `a\nb\x1b`", "/steps/0"};
  EXPECT_EQ(format_diagnostic("loan.yaml", finding), "loan.yaml:3:7: warning: unknown key `a\\nb ` [/steps/0]");
}

}  // namespace
}  // namespace cairn
