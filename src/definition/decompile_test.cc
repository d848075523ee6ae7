#include "definition/decompile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "definition/definition.h"

namespace cairn {
namespace {

constexpr const char* preamble = "cairn: 1\nname: a.b\nversion: 1.0.0\n";

std::string errors_of(const Definition& definition) {
  std::string lines;
  for (const Diagnostic& finding : definition.diagnostics) lines += format_diagnostic("f", finding) + "\n";
  return lines;
}

// The YAML that the decompiler writes for a definition; it must compile to the same bytes.
std::string back(const std::string& yaml) {
  const Definition definition = load_definition(yaml, "f");
  EXPECT_TRUE(definition.valid()) << errors_of(definition);
  const std::string written = decompile_yaml(definition.canonical);
  const Definition again = load_definition(written, "f");
  EXPECT_EQ(write_json(again.canonical), write_json(definition.canonical)) << errors_of(again) << written;
  return written;
}

// Source in the decompiler's own style comes back unchanged.
void expect_unchanged(const std::string& rest) { EXPECT_EQ(back(preamble + rest), preamble + rest); }

TEST(DecompileYaml, ShortFormsStayShort) {
  expect_unchanged(
      "state: { list: [1, 2], n: 1 }\n"
      "steps:\n"
      "  - wait: 1h30m\n"
      "  - set: { z: = state.n, a: [1, '= state.list[0]'] }\n"
      "  - if: state.n > 1\n"
      "    then: [ { set: { b: 1 } } ]\n"
      "  - parallel:\n"
      "      branches: { z: [ { wait: 1s } ], a: [ { wait: 2s } ] }\n"
      "      join: any\n"
      "  - id: last\n"
      "    when: state.n > 2\n"
      "    call: { worker: { type: billing.charge.v1 }, retry: none }\n"
      "output: = state.n\n");
}

TEST(DecompileYaml, DefaultsAndMadeUpIdsAreLeftOut) {
  const std::string written =
      back(std::string(preamble) +
           "on_error: suspend\ncheckpoint: wait\nstate: {}\n"
           "steps:\n"
           "  - call:\n"
           "      http: { method: GET, url: 'https://x.example', headers: {}, response: body }\n"
           "      timeout: 30s\n"
           "      retry: { attempts: 3, backoff: 1s }\n"
           "  - task: { name: T, roles: [], payload: {}, priority: 0, on_complete: [] }\n"
           "  - switch: [ { when: 'true', steps: [ { undo: {} } ] }, { default: [] } ]\n"
           "  - repeat: { for_each: [1], as: item, steps: [ { undo: {} } ] }\n");
  EXPECT_EQ(written, std::string(preamble) +
                         "steps:\n"
                         "  - call: { http: { url: https://x.example } }\n"
                         "  - task: { name: T }\n"
                         "  - switch:\n"
                         "      - when: true\n"
                         "        steps: [ { undo: {} } ]\n"
                         "  - repeat:\n"
                         "      for_each: [1]\n"
                         "      steps: [ { undo: {} } ]\n");
}

TEST(DecompileYaml, TitlesAreKeysAndComments) {
  expect_unchanged(
      "title: A title\n"
      "managers: [lead]\n"
      "steps:\n"
      "  # Ask the customer\n"
      "  - id: ask\n"
      "    title: Ask the customer\n"
      "    task: { name: Ask }\n");
}

TEST(DecompileYaml, SchemasBeginWithTheirType) {
  expect_unchanged(
      "input:\n"
      "  type: object\n"
      "  required: [amount, currency]\n"
      "  properties:\n"
      "    amount: { type: number, minimum: 1 }\n"
      "    currency: { type: string, enum: [EUR, USD] }\n"
      "steps:\n"
      "  - undo: {}\n");
}

TEST(DecompileYaml, ExpressionsOfSeveralLinesAreBlocks) {
  expect_unchanged(
      "state: { n: 1 }\n"
      "steps:\n"
      "  - if: |-\n"
      "      state.n > 1 &&\n"
      "        state.n < 5\n"
      "    then:\n"
      "      - set:\n"
      "          a: |-\n"
      "            = [\n"
      "              state.n\n"
      "            ]\n");
}

TEST(DecompileYaml, TextThatLooksLikeSomethingElseIsQuoted) {
  expect_unchanged(
      "state:\n"
      "  a: '1.0'\n"
      "  b: 'yes'\n"
      "  c: 'null'\n"
      "  d: 'x: y'\n"
      "  e: \"it's: so\"\n"
      "  f: = \"=x\"\n"
      "  g: \"tab\\there\"\n"
      "  h: 1.0\n"
      "steps:\n"
      "  - undo: {}\n");
}

TEST(DecompileYaml, LiteralsThatLookLikeExpressionsStay) {
  expect_unchanged(
      "state: { a: { $literal: { $expr: x, t: =y } } }\n"
      "steps:\n"
      "  - undo: {}\n");
}

TEST(DecompileYaml, APathThatIsSetTwiceKeepsTheListForm) {
  const std::string yaml =
      std::string(preamble) +
      "state: { n: 1 }\nsteps:\n  - set: [ { path: n, value: 2 }, { path: n, value: = state.n } ]\n";
  EXPECT_NE(back(yaml).find("{ path: n, value: 2 }"), std::string::npos);
}

TEST(DecompileYaml, AnythingInTextComesBack) {
  const std::string nasty[] = {"a\nb",
                               "a\n",
                               "\na",
                               "a\n\n\n",
                               " a",
                               "a ",
                               "a\n b\n",
                               "a\r\nb",
                               "\t",
                               "#",
                               "- a",
                               "? a",
                               ": ",
                               "'",
                               "\"",
                               "\\",
                               "a\\nb",
                               "''",
                               "%x",
                               "@",
                               "`",
                               "!x",
                               "&x",
                               "*x",
                               "|",
                               ">",
                               "{a}",
                               "[a]",
                               "a, b",
                               "~",
                               "0x1F",
                               "1e3",
                               "2024-01-31",
                               "---",
                               "...",
                               "\xC2\x85",
                               "\xE2\x80\xA8",
                               "\xEF\xBB\xBF",
                               "\xF0\x9F\x98\x80",
                               "\x1B[0m",
                               "\x7F",
                               "a  \nb",
                               "a\xC2\x85 b",
                               "x\xE2\x80\xA8  - set: { hidden: 1 }\xE2\x80\xA9",
                               std::string(2000, 'k'),
                               std::string(600, '\t')};
  for (const std::string& text : nasty) {
    Json source = Json::object({{"cairn", 1}, {"name", "a.b"}, {"version", "1.0.0"}});
    Json state = Json::object({{"a", text}});
    state.set(text, text);
    source.set("state", state);
    source.set("steps", Json::array({Json::object({{"title", text}, {"undo", Json::object()}})}));
    const Definition definition = load_definition(write_json(source), "f");
    ASSERT_TRUE(definition.valid()) << errors_of(definition);
    const std::string yaml = decompile_yaml(definition.canonical);
    const Definition again = load_definition(yaml, "f");
    EXPECT_EQ(write_json(again.canonical), write_json(definition.canonical)) << errors_of(again) << yaml;
  }
}

TEST(DecompileCpp, WritesOneFunction) {
  const Definition definition = load_definition(
      std::string(preamble) + "title: \"A \\\"title\\\"\"\nstate: { n: 1 }\nsteps:\n  - id: w\n    wait: 2d\n", "f");
  ASSERT_TRUE(definition.valid()) << errors_of(definition);
  EXPECT_EQ(decompile_cpp(definition.canonical, "made"),
            "#include \"cairn/definition.h\"\n\n"
            "cairn::flow::Workflow made() {\n"
            "  using namespace cairn::flow;\n"
            "  using namespace std::chrono_literals;\n"
            "  return workflow(\"a.b\", \"1.0.0\")\n"
            "      .title(R\"(A \"title\")\")\n"
            "      .state({{\"n\", 1}})\n"
            "      .steps({wait(std::chrono::days(2)).id(\"w\")});\n"
            "}\n");
}

// The text between ```language and the closing fence.
std::string code_block(const std::string& page, const std::string& language) {
  const std::string open = "```" + language + "\n";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(DecompileCpp, GivesWhatTheDocumentationShows) {
  std::ifstream file(CAIRN_SOURCE_DIR "/docs/builder.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const Definition definition = load_definition(code_block(page, "yaml"), "docs/builder.md");
  ASSERT_TRUE(definition.valid()) << errors_of(definition);
  EXPECT_EQ(decompile_yaml(definition.canonical), code_block(page, "yaml"));
  EXPECT_EQ(decompile_cpp(definition.canonical, "loan_approval"),
            "#include \"cairn/definition.h\"\n\n" + code_block(page, "cpp"));
}

TEST(DecompileCpp, TextMadeToBreakOutOfItsLiteralIsEscaped) {
  Json source = Json::object({{"cairn", 1}, {"name", "a.b"}, {"version", "1.0.0"}});
  source.set("state", Json::object({{"a", ")\" ; } //"}, {"b", "bell\a \"q\""}}));
  source.set("steps", Json::array({Json::object({{"undo", Json::object()}})}));
  const std::string cpp = decompile_cpp(load_definition(write_json(source), "f").canonical, "made");
  EXPECT_NE(cpp.find("R\"_()\" ; } //)_\""), std::string::npos) << cpp;
  EXPECT_NE(cpp.find("\"bell\\007 \\\"q\\\"\""), std::string::npos) << cpp;
}

TEST(Decompile, RowsThatDoNotAddUpDoNotCrash) {
  for (const char* text : {"null", "[]", "{}", R"({"steps":5,"state":[1]})", R"({"steps":[1,{"type":"call"}]})",
                           R"({"steps":[{"type":"first","first":[{}]},{"type":"switch"},{"type":"try"}]})",
                           R"({"steps":[{"type":"repeat","repeat":7},{"type":"wait","wait":[]},{"type":"emit"}]})",
                           R"({"schedules":[{}],"input":3,"name":7,"steps":[{"type":"task","task":{"remind":1}}]})"}) {
    const Json canonical = parse_json(text).value();
    decompile_yaml(canonical);
    decompile_cpp(canonical, "made");
  }
}

}  // namespace
}  // namespace cairn
