#include <fstream>

#include "cli/command_fixture_test.h"
#include "cli/exit_code.h"

namespace cairn::cli {
namespace {

class CheckData : public testing::Test {
 protected:
  CheckData() : folder_(testing::TempDir() + "check_data_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~CheckData() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  static Outcome run(const std::vector<std::string>& args, const std::string& input = "") {
    return run_command(run_check_data, args, input);
  }

 private:
  std::string folder_;
};

constexpr const char* order_schema = R"({"required": ["amount"], "properties": {"amount": {"minimum": 1}}})";

TEST_F(CheckData, IsSilentWhenAllIsValid) {
  const auto schema = file("s.json", order_schema);
  const auto data = file("d.json", R"({"amount": 2})");
  const Outcome outcome = run({"--schema", schema, data, "-"}, R"({"amount": 1})");
  EXPECT_EQ(outcome.code, exit_done);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST_F(CheckData, NamesFilePointerAndReason) {
  const auto schema = file("s.json", order_schema);
  const auto low = file("low.json", R"({"amount": 0})");
  const auto empty = file("empty.json", "{}");
  const Outcome outcome = run({"--schema", schema, low, empty});
  EXPECT_EQ(outcome.code, exit_invalid);
  EXPECT_EQ(outcome.err,
            low + ": /amount: must be at least 1\n" + empty + ": is missing the required member `amount`\n");
}

TEST_F(CheckData, RefusesABrokenSchemaAndBrokenJson) {
  const auto broken = file("broken.json", R"({"type": "strin"})");
  EXPECT_EQ(run({"--schema", broken}).code, exit_invalid);
  EXPECT_NE(run({"--schema", broken}).err.find(broken + ": /type: "), std::string::npos);
  const Outcome outcome = run({"--schema", file("s.json", "{}"), "-"}, "{");
  EXPECT_EQ(outcome.code, exit_invalid);
  EXPECT_NE(outcome.err.find("-: "), std::string::npos);
}

TEST_F(CheckData, AnswersOneDocumentWithJson) {
  const auto schema = file("s.json", order_schema);
  const Outcome outcome = run({"--schema", schema, "-", "--json"}, R"({"amount": 0})");
  EXPECT_EQ(outcome.code, exit_invalid);
  EXPECT_EQ(outcome.err, "");
  const auto report = parse_json(outcome.out);
  ASSERT_TRUE(report) << outcome.out;
  EXPECT_EQ(find_pointer(*report, "/data/0/violations/0/pointer")->as_string(), "/amount");
  EXPECT_FALSE((*report)["valid"].as_bool());
}

TEST_F(CheckData, TellsAWrongCallFromInvalidData) {
  EXPECT_EQ(run({}).code, exit_usage);
  EXPECT_EQ(run({"--schema", "no-such-file.json"}).code, exit_usage);
  EXPECT_EQ(run({"--schema", file("s.json", "{}"), "no-such-file.json"}).code, exit_usage);
  EXPECT_EQ(run({"--schema", "-", "-"}).code, exit_usage);
  EXPECT_EQ(run({"--vectors", "-", "--schema", "x"}).code, exit_usage);
  EXPECT_EQ(run({"--help"}).code, exit_done);
}

TEST_F(CheckData, AnswersVectorsLineByLine) {
  const Outcome outcome =
      run({"--vectors", "-"},
          "{\"id\": \"a\", \"kind\": \"format\", \"schema\": {\"format\": \"date\"}, \"data\": \"x\"}\n"
          "{\"id\": \"b\", \"kind\": \"required\", \"schema\": {\"format\": \"date\"}, \"data\": \"x\"}\n"
          "{\"id\": \"c\", \"kind\": \"required\", \"schema\": {\"const\": \"\\u0000\"}, \"data\": \"\\u0000\"}\n"
          "{\"id\": \"d\", \"schema\": {\"$ref\": \"http://x/y\"}, \"data\": 1}\n");
  EXPECT_EQ(outcome.code, exit_done);
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"id":"a","valid":false})");
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"id":"b","valid":true})");
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"id":"c","valid":true})");
  std::getline(lines, line);
  EXPECT_TRUE(parse_json(line)->find("skip")) << line;
}

}  // namespace
}  // namespace cairn::cli
