#include "base/suggest.h"

#include <algorithm>
#include <array>
#include <vector>

namespace cairn {

namespace {

constexpr std::size_t length_max = 64;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Twice the number of edits, so that a change of case counts as half an edit.
int distance(std::string_view a, std::string_view b) {
  std::array<std::array<int, length_max + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(2 * j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i + 2) % 3];
    const auto& above_two = rows[(i + 1) % 3];
    row[0] = static_cast<int>(2 * i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], above_two[j - 2] + 2);
    }
  }
  return rows[a.size() % 3][b.size()];
}

template <class Names>
std::optional<std::string> nearest(std::string_view word, const Names& candidates) {
  if (word.empty() || word.size() > length_max) return std::nullopt;
  // A third of the letters may be wrong; in short words, one letter.
  const int allowed = 2 * std::max<int>(1, static_cast<int>(word.size()) / 3);
  int best = allowed + 1;
  std::optional<std::string> found;
  for (const std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > length_max) continue;
    const int edits = distance(word, candidate);
    if (edits < best && edits < static_cast<int>(2 * std::max(word.size(), candidate.size()))) {
      best = edits;
      found = std::string(candidate);
    }
  }
  return found;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> candidates) {
  return nearest(word, candidates);
}
std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string_view> candidates) {
  return nearest(word, candidates);
}

}  // namespace cairn
