#include <fstream>

#include "cli/command_fixture_test.h"

namespace cairn::cli {
namespace {

constexpr const char* greeting =
    "cairn: 1\nname: greeting\nversion: 1.0.0\nsteps:\n"
    "  - { id: ask, if: 1 > 2, then: [ { id: greet, set: { greeting: hello } } ] }\n";

Outcome render(const std::vector<std::string>& args, const std::string& input = greeting) {
  return run_command(run_render, args, input);
}

TEST(RenderCommand, PrintsSvgByDefault) {
  const Outcome outcome = render({"-"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("<svg ")) << outcome.out.substr(0, 80);
  EXPECT_NE(outcome.out.find("data-step=\"greet\""), std::string::npos);
  EXPECT_EQ(outcome.out, render({"-"}).out);
  EXPECT_NE(outcome.out, render({"-", "--theme", "dark"}).out);
  EXPECT_NE(outcome.out, render({"-", "--direction", "lr"}).out);
}

TEST(RenderCommand, EveryFormatHasItsBeginning) {
  EXPECT_TRUE(render({"-", "--format", "mmd"}).out.starts_with("flowchart TD"));
  EXPECT_TRUE(render({"-", "--format", "dot"}).out.starts_with("digraph"));
  EXPECT_TRUE(render({"-", "--format", "png"}).out.starts_with("\x89PNG"));
  EXPECT_EQ(render({"-", "--format", "txt"}).out, "◆ 1 > 2\n  → yes\n    = greet\n");
  EXPECT_EQ(render({"-", "--format", "txt", "--collapse", "0"}).out, "⊞ 1 > 2 (1 step inside)\n");
  const Result<Json> layout = parse_json(render({"-", "--format", "json"}).out);
  ASSERT_TRUE(layout);
  EXPECT_EQ((*layout)["name"], Json("greeting"));
}

TEST(RenderCommand, TheEndingOfTheFileChooses) {
  const std::string file = testing::TempDir() + "cairn_render_test.dot";
  EXPECT_EQ(render({"-", "-o", file}).code, 0);
  std::ifstream in(file);
  std::string first;
  std::getline(in, first);
  EXPECT_EQ(first, "digraph \"greeting\" {");
  std::filesystem::remove(file);
}

TEST(RenderCommand, WrongCallsGiveTwoAndInvalidDefinitionsEight) {
  const std::vector<std::vector<std::string>> wrong_calls{{},
                                                          {"-", "--theme", "blue"},
                                                          {"-", "--direction", "up"},
                                                          {"-", "--collapse", "-1"},
                                                          {"-", "--scale", "2"},
                                                          {"-", "--format", "png", "--scale", "9"},
                                                          {"-", "--format", "gif"},
                                                          {"-", "-o", "picture"}};
  for (const std::vector<std::string>& args : wrong_calls) {
    const Outcome outcome = render(args);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(outcome.out.empty());
    EXPECT_NE(outcome.err.find("cairn render: "), std::string::npos);
  }
  EXPECT_EQ(render({"-"}, "cairn: 1\n").code, 8);
}

}  // namespace
}  // namespace cairn::cli
