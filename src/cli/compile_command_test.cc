#include "base/sha256.h"
#include "cli/command_fixture_test.h"

namespace cairn::cli {
namespace {

constexpr const char* compiled_greeting =
    "cairn: 1\nname: greeting\nversion: 1.0.0\nsteps:\n  - set: { greeting: = \"hello\" }\n";

TEST(CompileCommand, PrintsTheCanonicalForm) {
  const Outcome outcome = run_command(run_compile, {"-"}, compiled_greeting);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(outcome.out.starts_with("{\"cairn\":1,\"cel\":1,")) << outcome.out;
  EXPECT_EQ(run_command(run_compile, {"-"}, outcome.out).out, outcome.out);
}

TEST(CompileCommand, PrintsTheDigestOfTheCompactForm) {
  std::string canonical = run_command(run_compile, {"-"}, compiled_greeting).out;
  canonical.pop_back();
  EXPECT_EQ(run_command(run_compile, {"--digest", "-"}, compiled_greeting).out, sha256_hex(canonical) + "\n");
  const Outcome pretty = run_command(run_compile, {"--pretty", "-"}, compiled_greeting);
  EXPECT_EQ(write_json(parse_json(pretty.out).value()), canonical);
}

TEST(CompileCommand, InvalidDefinitionsAreReportedWithTheirPlace) {
  const Outcome outcome = run_command(run_compile, {"-"}, "cairn: 1\nname: greeting\nversion: 1.0.0\nstep: []\n");
  EXPECT_EQ(outcome.code, 8);
  EXPECT_TRUE(outcome.out.empty());
  EXPECT_NE(outcome.err.find("-:4:1: error: "), std::string::npos) << outcome.err;
}

TEST(CompileCommand, WrongCallsAndUnreadableFilesGiveTwo) {
  EXPECT_EQ(run_command(run_compile, {}).code, 2);
  EXPECT_EQ(run_command(run_compile, {"a", "b"}).code, 2);
  EXPECT_EQ(run_command(run_compile, {"--pretty", "--digest", "-"}).code, 2);
  const Outcome missing = run_command(run_compile, {"/no/such/file.yaml"});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("/no/such/file.yaml"), std::string::npos);
}

TEST(CompileCommand, WritesToAFile) {
  const std::string file = testing::TempDir() + "compile_command_test.json";
  EXPECT_EQ(run_command(run_compile, {"-", "-o", file}, compiled_greeting).code, 0);
  EXPECT_EQ(run_command(run_compile, {file}).out, run_command(run_compile, {"-"}, compiled_greeting).out);
  std::remove(file.c_str());
  EXPECT_EQ(run_command(run_compile, {"-", "-o", "/no/such/folder/x"}, compiled_greeting).code, 1);
}

TEST(DecompileCommand, GivesYamlThatCompilesToTheSame) {
  const std::string canonical = run_command(run_compile, {"-"}, compiled_greeting).out;
  const Outcome yaml = run_command(run_decompile, {"-"}, canonical);
  EXPECT_EQ(yaml.code, 0) << yaml.err;
  EXPECT_EQ(yaml.out, compiled_greeting);
  EXPECT_EQ(run_command(run_compile, {"-"}, yaml.out).out, canonical);
}

TEST(DecompileCommand, GivesCppUnderTheChosenName) {
  const Outcome cpp = run_command(run_decompile, {"--to", "cpp", "-"}, compiled_greeting);
  EXPECT_EQ(cpp.code, 0) << cpp.err;
  EXPECT_NE(cpp.out.find("cairn::flow::Workflow greeting() {"), std::string::npos) << cpp.out;
  const Outcome named = run_command(run_decompile, {"--to=cpp", "--function", "make_greeting", "-"}, compiled_greeting);
  EXPECT_NE(named.out.find("Workflow make_greeting() {"), std::string::npos);
}

TEST(DecompileCommand, WrongCallsGiveTwo) {
  EXPECT_EQ(run_command(run_decompile, {"--to", "java", "-"}, compiled_greeting).code, 2);
  EXPECT_EQ(run_command(run_decompile, {"--function", "x", "-"}, compiled_greeting).code, 2);
  EXPECT_EQ(run_command(run_decompile, {"--to", "cpp", "--function", "a b", "-"}, compiled_greeting).code, 2);
  EXPECT_EQ(run_command(run_decompile, {}).code, 2);
  EXPECT_EQ(run_command(run_decompile, {"-"}, "not a definition").code, 8);
}

}  // namespace
}  // namespace cairn::cli
