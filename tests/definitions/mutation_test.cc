// Random changes to valid definitions: never a crash, never a hang, always either a valid result or an error with a
// position. CAIRN_MUTATIONS and CAIRN_SEED choose how many and which.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <random>

#include "definition/definition.h"
#include "tests/definitions/corpus.h"

namespace cairn {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool slow_build = true;
#else
constexpr bool slow_build = false;
#endif

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return bound == 0 ? 0 : random() % bound; }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  return lines;
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

// Typical damage by people and editors: lines lost, duplicated, moved and indented, words replaced, bytes broken.
std::string mutate(std::string text, const std::string& other, Random& random) {
  static const char* const words[] = {
      "null", "true",     "[]",       "{}",  "\"\"", "= ",         "-1",        "1e999",  "set",
      "task", "steps",    "=",        ": ",  "- ",   "&a ",        "*a",        "!!str ", "<<: *a",
      "|\n",  ">\n",      "'",        "\"",  "\t",   "{$expr: 1}", "= state.x", "PT1H",   "999999999999999999999",
      "if: ", "undo: {}", "\xC3\xA9", "\xFF"};
  std::vector<std::string> lines = lines_of(text);
  switch (below(random, 8)) {
    case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size()))); return join(lines);
    case 1:
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(random, lines.size())),
                   lines[below(random, lines.size())]);
      return join(lines);
    case 2: std::swap(lines[below(random, lines.size())], lines[below(random, lines.size())]); return join(lines);
    case 3: lines[below(random, lines.size())].insert(0, 1 + below(random, 4), ' '); return join(lines);
    case 4: {
      const std::vector<std::string> foreign = lines_of(other);
      lines[below(random, lines.size())] = foreign[below(random, foreign.size())];
      return join(lines);
    }
    case 5: text.insert(below(random, text.size()), words[below(random, std::size(words))]); return text;
    case 6: text.erase(below(random, text.size()), 1 + below(random, 20)); return text;
    default: text[below(random, text.size())] = static_cast<char>(random()); return text;
  }
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* given = std::getenv(variable);
  return given != nullptr ? std::strtoull(given, nullptr, 10) : otherwise;
}

TEST(Mutations, GiveErrorsWithPositionsOrValidResults) {
  const std::uint64_t count = number_from("CAIRN_MUTATIONS", 1000);
  const std::uint64_t seed = number_from("CAIRN_SEED", std::random_device()());
  RecordProperty("seed", std::to_string(seed));
  SCOPED_TRACE("CAIRN_SEED=" + std::to_string(seed));
  Random random(seed);
  std::vector<std::string> sources;
  for (const auto& path : corpus::valid_sources()) sources.push_back(corpus::read(path));
  ASSERT_FALSE(sources.empty());

  std::size_t valid = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string text = sources[below(random, sources.size())];
    for (std::size_t times = 1 + below(random, 3); times > 0 && !text.empty(); --times) {
      text = mutate(std::move(text), sources[below(random, sources.size())], random);
    }
    const auto begin = std::chrono::steady_clock::now();
    const Definition definition = load_definition(text, "mutant.yaml");
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took, std::chrono::seconds(slow_build ? 20 : 2)) << text;
    std::size_t errors = 0;
    for (const Diagnostic& diagnostic : definition.diagnostics) {
      EXPECT_GE(diagnostic.line, 1) << text;
      EXPECT_GE(diagnostic.column, 1) << text;
      EXPECT_FALSE(diagnostic.message.empty()) << text;
      if (diagnostic.severity == Diagnostic::Severity::error) ++errors;
    }
    ASSERT_EQ(definition.valid(), errors == 0) << text;
    if (!definition.valid()) continue;
    ++valid;
    // An accepted definition is a fixed point.
    const Definition again = load_definition(write_json(definition.canonical), "mutant.json");
    ASSERT_EQ(again.digest, definition.digest) << text;
  }
  EXPECT_GT(valid, 0u);
  EXPECT_LT(valid, count);
}

}  // namespace
}  // namespace cairn
