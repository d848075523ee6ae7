#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "definition/definition.h"
#include "tests/definitions/corpus.h"

namespace cairn {
namespace {

std::string findings_of(const Definition& definition, const std::string& file) {
  std::string all;
  for (const Diagnostic& diagnostic : definition.diagnostics) all += format_diagnostic(file, diagnostic) + "\n";
  return all;
}

struct Expected {
  std::string place;     // 3:5
  std::string severity;  // error or warning
  std::string text;
  std::string pointer;
};

// Lines of LINE:COL: error|warning: TEXT [POINTER].
std::vector<Expected> expected_of(const std::filesystem::path& source) {
  std::filesystem::path path = source;
  path.replace_extension(".expected");
  std::istringstream lines(corpus::read(path));
  static const std::regex form(R"(^(\d+:\d+): (error|warning): (.*) \[(.*)\]$)");
  std::vector<Expected> all;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    EXPECT_TRUE(std::regex_match(line, parts, form)) << path << ": " << line;
    if (parts.size() == 5) all.push_back({parts[1], parts[2], parts[3], parts[4]});
  }
  EXPECT_FALSE(all.empty()) << path << " expects nothing";
  return all;
}

bool fits(const Diagnostic& found, const Expected& expected) {
  const std::string place = std::to_string(found.line) + ":" + std::to_string(found.column);
  const std::string severity = found.severity == Diagnostic::Severity::error ? "error" : "warning";
  return place == expected.place && severity == expected.severity && found.pointer == expected.pointer &&
         found.message.find(expected.text) != std::string::npos;
}

void expect_findings(const std::filesystem::path& path, bool valid) {
  const Definition definition = load_definition(corpus::read(path), path.filename().string());
  const std::vector<Expected> expected = expected_of(path);
  bool same = definition.diagnostics.size() == expected.size();
  for (std::size_t i = 0; same && i < expected.size(); ++i) same = fits(definition.diagnostics[i], expected[i]);
  std::filesystem::path expectation = path;
  EXPECT_TRUE(same) << "got:\n"
                    << findings_of(definition, path.filename().string()) << "expected:\n"
                    << corpus::read(expectation.replace_extension(".expected"));
  EXPECT_EQ(definition.valid(), valid) << path;
}

TEST(Definitions, ValidOnesLoadWithoutAFinding) {
  const auto paths = corpus::valid_sources();
  EXPECT_GE(paths.size(), 40u);
  for (const auto& path : paths) {
    const Definition definition = load_definition(corpus::read(path), path.filename().string());
    EXPECT_TRUE(definition.valid()) << path;
    EXPECT_EQ(findings_of(definition, path.filename().string()), "");
  }
}

TEST(Definitions, InvalidOnesGiveTheExpectedErrors) {
  const auto paths = corpus::sources("tests/definitions/invalid");
  EXPECT_GE(paths.size(), 120u);
  for (const auto& path : paths) expect_findings(path, false);
}

TEST(Definitions, DoubtfulOnesGiveTheExpectedWarnings) {
  for (const auto& path : corpus::sources("tests/definitions/warnings")) expect_findings(path, true);
}

// YAML -> canonical, and the canonical form as source -> itself, as a stored form -> the same program.
TEST(Definitions, TheCanonicalFormGivesItself) {
  for (const auto& path : corpus::valid_sources()) {
    const Definition first = load_definition(corpus::read(path), path.filename().string());
    if (!first.valid()) continue;
    const std::string bytes = write_json(first.canonical);
    const Definition again = load_definition(bytes, "canonical.json");
    EXPECT_EQ(findings_of(again, "canonical.json"), "") << path;
    EXPECT_EQ(write_json(again.canonical), bytes) << path;
    EXPECT_EQ(again.digest, first.digest) << path;

    const auto stored = compile_program(first.canonical);
    ASSERT_TRUE(stored.has_value()) << path << ": " << stored.error().message;
    EXPECT_EQ((*stored)->digest, first.digest) << path;
    ASSERT_EQ((*stored)->steps.size(), first.program->steps.size()) << path;
    for (std::size_t i = 0; i < first.program->steps.size(); ++i) {
      EXPECT_EQ((*stored)->steps[i].id, first.program->steps[i].id);
      EXPECT_EQ((*stored)->steps[i].path, first.program->steps[i].path);
      EXPECT_EQ((*stored)->steps[i].body.index(), first.program->steps[i].body.index());
    }
    ASSERT_EQ((*stored)->blocks.size(), first.program->blocks.size()) << path;
  }
}

}  // namespace
}  // namespace cairn
