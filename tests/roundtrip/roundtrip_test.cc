// There and back, for every definition of the corpus: the same canonical bytes each time.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "corpus.h"
#include "definition/decompile.h"
#include "definition/definition.h"

namespace cairn {
namespace {

Definition load_file(std::string_view path) {
  std::ifstream file{std::string(path), std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return load_definition(text, std::string(path));
}

std::string errors_of(const Definition& definition) {
  std::string lines;
  for (const Diagnostic& finding : definition.diagnostics) lines += format_diagnostic("decompiled", finding) + "\n";
  return lines;
}

TEST(RoundTrip, TheCorpusIsThere) { EXPECT_GE(corpus::entries().size(), 40u); }

TEST(RoundTrip, CanonicalFormsCompileToThemselves) {
  for (const corpus::Entry& entry : corpus::entries()) {
    const Definition definition = load_file(entry.file);
    ASSERT_TRUE(definition.valid()) << entry.file;
    const Definition again = load_definition(write_json(definition.canonical), "canonical.json");
    EXPECT_EQ(again.digest, definition.digest) << entry.file << "\n" << errors_of(again);
    EXPECT_EQ(write_json(again.canonical), write_json(definition.canonical)) << entry.file;
  }
}

TEST(RoundTrip, DecompiledYamlCompilesToTheSameBytes) {
  for (const corpus::Entry& entry : corpus::entries()) {
    const Definition definition = load_file(entry.file);
    const std::string yaml = decompile_yaml(definition.canonical);
    const Definition again = load_definition(yaml, "decompiled.yaml");
    EXPECT_EQ(write_json(again.canonical), write_json(definition.canonical)) << entry.file << "\n"
                                                                             << errors_of(again) << yaml;
    EXPECT_EQ(again.digest, definition.digest) << entry.file;
    // What was decompiled once is what a person would have written: decompiling it again changes nothing.
    EXPECT_EQ(decompile_yaml(again.canonical), yaml) << entry.file;
  }
}

TEST(RoundTrip, DecompiledCppBuildsTheSameBytes) {
  for (const corpus::Entry& entry : corpus::entries()) {
    const Definition definition = load_file(entry.file);
    ASSERT_NE(entry.make, nullptr) << entry.file << " is not valid:\n" << errors_of(definition);
    const Result<Definition> built = entry.make().build();
    ASSERT_TRUE(built.has_value()) << entry.file << "\n" << built.error().message;
    EXPECT_EQ(write_json(built->canonical), write_json(definition.canonical)) << entry.file;
    EXPECT_EQ(built->digest, definition.digest) << entry.file;
  }
}

}  // namespace
}  // namespace cairn
