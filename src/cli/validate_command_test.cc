#include <fstream>

#include "cli/command_fixture_test.h"

namespace cairn::cli {
namespace {

constexpr const char* valid = "cairn: 1\nname: a\nversion: 1.0.0\nsteps: [{wait: 1h}]\n";
constexpr const char* invalid = "cairn: 1\nname: a\nversion: 1.0.0\nsteps: [{wiat: 1h}]\n";
constexpr const char* doubtful = "cairn: 1\nname: a\nversion: 1.0.0\nsteps: [{wait: 1h, when: true}]\n";

Outcome run(const std::vector<std::string>& args, const std::string& input = "") {
  return run_command(run_validate, args, input);
}

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("cairn_validate_" + std::to_string(::getpid()));
    std::filesystem::create_directories(path_ / "inner");
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  std::filesystem::path path_;
};

using Validate = Folder;

TEST_F(Validate, AValidFileIsSaidToBeAndGivesZero) {
  const std::string file = write("a.yaml", valid);
  const Outcome ran = run({file});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(ran.out, file + ": valid\n");
}

TEST_F(Validate, FindingsGoToStandardErrorWithTheFileAsGiven) {
  const std::string file = write("a.yaml", invalid);
  const Outcome ran = run({file});
  EXPECT_EQ(ran.code, 8);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, file +
                         ":4:10: error: unknown key `wiat`; did you mean `wait`? [/steps/0/wiat]\n"
                         "  4 | steps: [{wiat: 1h}]\n"
                         "    |          ^\n");
}

TEST_F(Validate, ALongLineIsShownAroundTheFinding) {
  const std::string line = "steps: [{wait: 1h, title: '" + std::string(200, 'x') + "', wiat: 1h}]\n";
  const Outcome ran = run({"-"}, "cairn: 1\nname: a\nversion: 1.0.0\n" + line);
  EXPECT_EQ(ran.code, 8);
  EXPECT_NE(ran.err.find("  4 | …" + std::string(57, 'x') + "', wiat: 1h}]\n"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("\n    | " + std::string(61, ' ') + "^\n"), std::string::npos) << ran.err;
}

TEST_F(Validate, WarningsDoNotChangeTheExitCode) {
  const Outcome ran = run({"-"}, doubtful);
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err,
            "-:4:26: warning: this condition is always true [/steps/0/when]\n"
            "  4 | steps: [{wait: 1h, when: true}]\n"
            "    |                          ^\n");
}

TEST_F(Validate, AllFilesAreReported) {
  const std::string first = write("a.yaml", invalid);
  const std::string second = write("b.yaml", invalid);
  const Outcome ran = run({first, second});
  EXPECT_EQ(ran.code, 8);
  EXPECT_NE(ran.err.find(first), std::string::npos);
  EXPECT_NE(ran.err.find(second), std::string::npos);
}

TEST_F(Validate, AFolderStandsForItsDefinitions) {
  write("b.json", R"({"cairn": 1, "name": "a", "version": "1", "steps": [{"wait": "1h"}]})");
  write("a.yaml", valid);
  write("inner/c.yml", valid);
  write("a.test.yaml", "not: a definition");
  write("notes.txt", "nor this");
  const Outcome ran = run({path_.string()});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, (path_ / "a.yaml").string() + ": valid\n" + (path_ / "b.json").string() + ": valid\n" +
                         (path_ / "inner/c.yml").string() + ": valid\n");
}

TEST_F(Validate, WrongCallsAndUnreadableFilesGiveTwo) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"--nonsense"}).code, 2);
  EXPECT_EQ(run({"-", "-"}).code, 2);
  const Outcome missing = run({(path_ / "none.yaml").string()});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("none.yaml"), std::string::npos);
  EXPECT_EQ(run({(path_ / "inner").string()}).code, 2);  // a folder without definitions
}

TEST_F(Validate, AnEmptyFileIsInvalidAtItsBeginning) {
  const Outcome ran = run({"-"}, "");
  EXPECT_EQ(ran.code, 8);
  EXPECT_EQ(ran.err, "-:1:1: error: the file is empty []\n");
}

TEST_F(Validate, AHugeFileIsOneLine) {
  const Outcome ran = run({"-"}, std::string(5u << 20, 'a'));
  EXPECT_EQ(ran.code, 8);
  EXPECT_EQ(ran.err, "-:1:1: error: the file is larger than the limit of 4194304 bytes []\n");
}

TEST_F(Validate, JsonIsOneDocumentOnStandardOutput) {
  const Outcome ran = run({"--json", write("a.yaml", invalid), write("b.yaml", valid)});
  EXPECT_EQ(ran.code, 8);
  EXPECT_EQ(ran.err, "");
  const auto report = parse_json(ran.out);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ((*report)["valid"], Json(false));
  const Json& first = (*report)["files"].items()[0]["findings"].items()[0];
  EXPECT_EQ(first["line"], Json(4));
  EXPECT_EQ(first["pointer"], Json("/steps/0/wiat"));
  EXPECT_EQ((*report)["files"].items()[1]["digest"].as_string().size(), 64u);
}

TEST(SchemaCommand, PrintsAJsonSchema) {
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(run_schema({}, in, out, err), 0);
  const auto schema = parse_json(out.str());
  ASSERT_TRUE(schema.has_value());
  EXPECT_EQ((*schema)["$schema"], Json("https://json-schema.org/draft/2020-12/schema"));
}

}  // namespace
}  // namespace cairn::cli
