// decompile_corpus FOLDER PARTS FILE…: writes corpus_1.cc … corpus_PARTS.cc with one function per definition, and
// corpus_table.cc that lists them. A definition that is not valid is listed without a function, so that it fails
// the test and not the build.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <vector>

#include "definition/decompile.h"
#include "definition/definition.h"

namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string quoted(const std::string& text) {
  std::string out;
  cairn::write_json_string(text, out);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string folder = argv[1];
  const std::size_t parts = static_cast<std::size_t>(std::max(1, std::atoi(argv[2])));
  std::vector<std::string> sources(parts);
  std::string declarations, rows;
  for (int i = 3; i < argc; ++i) {
    const std::string file = argv[i];
    const cairn::Definition definition = cairn::load_definition(read_file(file), file);
    if (!definition.valid()) {
      rows += "    {" + quoted(file) + ", nullptr},\n";
      continue;
    }
    const std::string function = "definition_" + std::to_string(i - 2);
    sources[static_cast<std::size_t>(i) % parts] += decompile_cpp(definition.canonical, function) + "\n";
    declarations += "cairn::flow::Workflow " + function + "();\n";
    rows += "    {" + quoted(file) + ", " + function + "},\n";
  }
  for (std::size_t part = 0; part < parts; ++part) {
    std::ofstream(folder + "/corpus_" + std::to_string(part + 1) + ".cc") << sources[part];
  }
  std::ofstream(folder + "/corpus_table.cc")
      << "#include \"corpus.h\"\n\n"
      << declarations << "\nnamespace cairn::corpus {\n\nstd::span<const Entry> entries() {\n"
      << "  static const Entry all[] = {\n"
      << rows << "  };\n  return all;\n}\n\n}  // namespace cairn::corpus\n";
  return 0;
}
