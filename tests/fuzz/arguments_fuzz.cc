// Any words, one a line, as the arguments of a command: both spellings of a value mean the same, and every word is used
// or refused.
#include "cli/arguments.h"

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn;
  static const cli::CommandSpec spec{
      "x", "FILE", "does x", "", {{"--input", "JSON", "", "-i"}, {"--all", "", "", "-a"}}, {}};
  const std::vector<std::string> words = fuzzing::take_lines(input);
  const auto read = cli::Arguments::read(spec, words);
  if (!read) {
    CAIRN_ASSERT(read.error().code == ErrorCode::invalid && !read.error().message.empty());
    return;
  }
  std::size_t used = read->positional().size();
  std::vector<std::string> again;
  for (const auto& [flag, value] : read->given()) {
    CAIRN_ASSERT(flag == "--input" || flag == "--all");
    again.push_back(flag == "--all" ? std::string(flag) : std::string(flag) + "=" + value);
    ++used;
  }
  CAIRN_ASSERT(used <= words.size());
  again.emplace_back("--");
  for (const std::string& word : read->positional()) again.push_back(word);
  const auto same = cli::Arguments::read(spec, again);
  CAIRN_ASSERT(same.has_value() && same->positional() == read->positional());
  CAIRN_ASSERT(same->values("--input") == read->values("--input") && same->has("--all") == read->has("--all"));
  CAIRN_ASSERT(same->value("--input") == read->value("--input"));
}
