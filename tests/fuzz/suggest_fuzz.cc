// A word on the first line, candidates on the others: a suggestion is one of the candidates, and a candidate that
// equals the word is always suggested.
#include "base/suggest.h"

#include <algorithm>

#include "input.h"

void fuzz(std::string_view input) {
  const std::string word(cairn::fuzzing::take_line(input));
  const std::vector<std::string> candidates = cairn::fuzzing::take_lines(input);
  const auto found = cairn::nearest_name(word, candidates);
  const bool known = std::find(candidates.begin(), candidates.end(), word) != candidates.end();
  if (known && !word.empty()) CAIRN_ASSERT(found == word);
  if (found) CAIRN_ASSERT(std::find(candidates.begin(), candidates.end(), *found) != candidates.end());
}
