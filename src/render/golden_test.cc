// Compares the pictures of real definitions byte for byte. After an intended change, write them again with
//   CAIRN_GOLDEN=write build/…/render_test --gtest_filter='Golden.*'
// and review the difference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "definition/definition.h"
#include "render/layout_faults.h"
#include "render/svg.h"

namespace cairn::render {
namespace {

namespace fs = std::filesystem;

const fs::path source = CAIRN_SOURCE_DIR;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// All examples, and those valid definitions that show a construct in all its forms.
std::vector<fs::path> drawn_definitions() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source / "examples")) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".yaml") && !name.ends_with(".test.yaml")) files.push_back(entry.path());
  }
  for (const char* name : {"call_http_maximal", "compensate_and_undo",
                           "complete_forms",    "continue_with_forms",
                           "deep_nesting",      "empty_lists",
                           "fail_forms",        "first_forms",
                           "if_forms",          "minimal",
                           "parallel_forms",    "parallel_nested",
                           "repeat_forms",      "repeat_nested",
                           "signal_forms",      "subworkflow_forms",
                           "switch_forms",      "task_deadlines",
                           "task_maximal",      "try_forms",
                           "unicode",           "wait_durations",
                           "when_on_every_kind"}) {
    files.push_back(source / "tests/definitions/valid" / (std::string(name) + ".yaml"));
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Golden, PicturesOfRealDefinitions) {
  const char* mode = std::getenv("CAIRN_GOLDEN");
  const bool write = mode && std::string(mode) == "write";
  const fs::path golden = source / "tests/render/golden";
  std::size_t drawn = 0;
  for (const fs::path& file : drawn_definitions()) {
    const Definition definition = load_definition(read(file), file.filename().string());
    ASSERT_TRUE(definition.valid()) << file;
    for (const Direction direction : {Direction::down, Direction::right}) {
      const Layout layout = layout_of(outline_of(*definition.program), direction);
      for (const std::string& fault : layout_faults(layout)) ADD_FAILURE() << file << ": " << fault;
      if (direction == Direction::right) continue;
      const std::string svg = svg_text(layout);
      const fs::path expected = golden / file.filename().replace_extension(".svg");
      if (write) std::ofstream(expected, std::ios::binary) << svg;
      EXPECT_TRUE(read(expected) == svg) << expected << " differs";
      ++drawn;
    }
  }
  EXPECT_GE(drawn, 30u);
}

}  // namespace
}  // namespace cairn::render
