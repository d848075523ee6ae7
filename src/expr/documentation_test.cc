// docs/expressions.md has a table for each library, generated from the catalogue. Run this test with CAIRN_WRITE_DOCS=1
// to write the tables again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "expr/expression.h"

namespace cairn::expr {
namespace {

constexpr std::string_view begin_mark = "<!-- functions: made from the catalogue, see documentation_test.cc -->\n";
constexpr std::string_view end_mark = "<!-- end of functions -->\n";

// Escapes code inside a table, because a bar would end the cell.
std::string code(std::string_view text) {
  std::string result = text.find('`') == std::string_view::npos ? "`" : "`` ";
  const std::string close = result == "`" ? "`" : " ``";
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result + close;
}

std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '<') result += '\\';
    result += c;
  }
  return result;
}

std::string tables() {
  std::map<std::string, std::string> by_library;
  for (const FunctionEntry& entry : function_catalogue()) {
    by_library[entry.library] += "| " + code(entry.signature) + " | " + plain(entry.description) + " | " +
                                 code(entry.example) + " is " + code(entry.example_result) + " |\n";
  }
  std::string result;
  for (const auto& [library, rows] : by_library) {
    result += "### " + library + "\n\n| function | | example |\n| --- | --- | --- |\n" + rows + "\n";
  }
  return result;
}

TEST(Documentation, ListsEveryFunctionOfTheCatalogue) {
  const std::string path = CAIRN_SOURCE_DIR "/docs/expressions.md";
  std::ifstream file(path);
  std::stringstream buffer;
  buffer << file.rdbuf();
  const std::string text = buffer.str();
  const std::size_t begin = text.find(begin_mark);
  const std::size_t end = text.find(end_mark);
  ASSERT_NE(begin, std::string::npos) << path;
  ASSERT_NE(end, std::string::npos) << path;
  const std::size_t inside = begin + begin_mark.size();
  const std::string wanted = "\n" + tables();
  if (std::getenv("CAIRN_WRITE_DOCS")) {
    std::ofstream(path) << text.substr(0, inside) << wanted << text.substr(end);
    return;
  }
  EXPECT_TRUE(text.substr(inside, end - inside) == wanted)
      << path << " does not show the catalogue; run `CAIRN_WRITE_DOCS=1 expr_test --gtest_filter=Documentation.*`";
}

}  // namespace
}  // namespace cairn::expr
