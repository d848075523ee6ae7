#include <gtest/gtest.h>

#include "definition/definition.h"
#include "definition/definition_schema.h"
#include "definition/source.h"
#include "schema/schema.h"
#include "tests/definitions/corpus.h"

namespace cairn {
namespace {

schema::Schema compiled() {
  auto schema = schema::Schema::compile(definition_schema());
  EXPECT_TRUE(schema.has_value()) << schema.error().front().pointer << ": " << schema.error().front().message;
  return std::move(schema).value();
}

// The source as JSON, or nothing when it does not even parse.
std::optional<Json> json_of(const std::filesystem::path& path) {
  std::vector<Diagnostic> findings;
  const SourceDocument document = SourceDocument::read(corpus::read(path), {}, findings);
  if (!document.usable() || !findings.empty()) return std::nullopt;
  return document.root().to_json();
}

TEST(DefinitionSchema, ThePublishedFileIsTheOneThatTheTablesGive) {
  EXPECT_EQ(corpus::read(corpus::root() / "schema/definition.json"), write_json_pretty(definition_schema()) + "\n")
      << "run: cairn schema > schema/definition.json";
}

TEST(DefinitionSchema, EveryValidDefinitionFits) {
  const schema::Schema schema = compiled();
  for (const auto& path : corpus::valid_sources()) {
    const auto source = json_of(path);
    ASSERT_TRUE(source.has_value()) << path;
    const auto violations = schema.check(*source, 3);
    EXPECT_TRUE(violations.empty()) << path << violations.front().pointer << ": " << violations.front().message;
  }
}

TEST(DefinitionSchema, TheCanonicalFormFitsToo) {
  const schema::Schema schema = compiled();
  for (const auto& path : corpus::valid_sources()) {
    const Definition definition = load_definition(corpus::read(path), path.filename().string());
    if (!definition.valid()) continue;
    const auto violations = schema.check(definition.canonical, 3);
    EXPECT_TRUE(violations.empty()) << path << violations.front().pointer << ": " << violations.front().message;
  }
}

// Unknown keys, missing keys and wrong types are refused. The schema does not check expressions, ids or numbers of
// branches.
TEST(DefinitionSchema, MostBrokenStructuresAreRefused) {
  const schema::Schema schema = compiled();
  std::size_t structural = 0;
  std::size_t refused = 0;
  std::string accepted;
  for (const auto& path : corpus::sources("tests/definitions/invalid")) {
    const Definition definition = load_definition(corpus::read(path), path.filename().string());
    const auto source = json_of(path);
    const bool about_structure = !definition.diagnostics.empty() &&
                                 (definition.diagnostics[0].message.find("unknown key") != std::string::npos ||
                                  definition.diagnostics[0].message.find(" needs ") != std::string::npos ||
                                  definition.diagnostics[0].message.find(" takes ") != std::string::npos ||
                                  definition.diagnostics[0].message.find("exclude each other") != std::string::npos);
    if (!source || !about_structure) continue;
    ++structural;
    if (!schema.accepts(*source)) {
      ++refused;
    } else {
      accepted += path.filename().string() + " ";
    }
  }
  EXPECT_GE(structural, 100u);
  EXPECT_GE(refused * 100, structural * 90) << refused << " of " << structural << "; accepted: " << accepted;
}

}  // namespace
}  // namespace cairn
