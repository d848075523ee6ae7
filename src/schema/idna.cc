#include "schema/idna.h"

#include <re2/re2.h>

#include <optional>
#include <string>

#include "base/utf8.h"
#include "schema/characters.h"

namespace cairn::schema {
namespace {

using Label = std::u32string;

constexpr std::size_t label_length_max = 63;

std::uint32_t adapted_bias(std::uint32_t delta, std::uint32_t points, bool first) {
  delta = first ? delta / 700 : delta / 2;
  delta += delta / points;
  std::uint32_t k = 0;
  for (; delta > 455; k += 36) delta /= 35;
  return k + 36 * delta / (delta + 38);
}

std::optional<Label> decode_punycode(std::string_view text) {
  Label out;
  const std::size_t dash = text.rfind('-');
  if (dash != std::string_view::npos) {
    for (const char c : text.substr(0, dash)) out.push_back(static_cast<char32_t>(is_letter(c) ? c | 0x20 : c));
    text.remove_prefix(dash + 1);
  }
  std::uint32_t point = 128, at = 0, bias = 72;
  while (!text.empty()) {
    const std::uint32_t before = at;
    std::uint32_t weight = 1;
    for (std::uint32_t k = 36;; k += 36) {
      if (text.empty()) return std::nullopt;
      const char c = text[0];
      text.remove_prefix(1);
      if (!is_letter_or_digit(c)) return std::nullopt;
      const auto digit = static_cast<std::uint32_t>(is_digit(c) ? c - '0' + 26 : (c | 0x20) - 'a');
      // Labels are at most 63 bytes, so the sums stay below 2^32 while the point stays in Unicode.
      const std::uint64_t next = at + std::uint64_t{digit} * weight;
      if (next > 0x7fffffff) return std::nullopt;
      at = static_cast<std::uint32_t>(next);
      const std::uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
      if (digit < threshold) break;
      const std::uint64_t grown = std::uint64_t{weight} * (36 - threshold);
      if (grown > 0x7fffffff) return std::nullopt;
      weight = static_cast<std::uint32_t>(grown);
    }
    const auto points = static_cast<std::uint32_t>(out.size() + 1);
    bias = adapted_bias(at - before, points, before == 0);
    point += at / points;
    at %= points;
    if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return std::nullopt;
    out.insert(out.begin() + at, static_cast<char32_t>(point));
    ++at;
  }
  return out;
}

std::string utf8(std::u32string_view label) {
  std::string out;
  for (const char32_t c : label) append_utf8(c, out);
  return out;
}

bool matches(std::u32string_view text, const re2::RE2& pattern) { return re2::RE2::FullMatch(utf8(text), pattern); }

// RFC 5892, 2.6: characters that the general rule would get wrong.
bool is_exceptionally_valid(char32_t c) {
  return c == 0xdf || c == 0x3c2 || c == 0x6fd || c == 0x6fe || c == 0xf0b || c == 0x3007;
}
bool is_exceptionally_disallowed(char32_t c) {
  return c == 0x640 || c == 0x7fa || c == 0x302e || c == 0x302f || (c >= 0x3031 && c <= 0x3035) || c == 0x303b;
}

bool is_virama(char32_t c) {
  static const re2::RE2 pattern(
      "[\\x{94d}\\x{9cd}\\x{a4d}\\x{acd}\\x{b4d}\\x{bcd}\\x{c4d}\\x{ccd}\\x{d3b}\\x{d3c}\\x{d4d}\\x{dca}\\x{e3a}\\x{"
      "eba}"
      "\\x{f84}\\x{1039}\\x{103a}\\x{1714}\\x{1734}\\x{17d2}\\x{1a60}\\x{1b44}\\x{1baa}\\x{1bab}\\x{1bf2}\\x{1bf3}"
      "\\x{2d7f}\\x{a806}\\x{a8c4}\\x{a953}\\x{a9c0}\\x{aaf6}\\x{abed}]");
  return matches(std::u32string_view(&c, 1), pattern);
}

// RFC 5892, appendix A: characters that are allowed only in certain contexts.
std::optional<bool> contextual_rule(const Label& label, std::size_t at) {
  static const re2::RE2 greek("\\p{Greek}"), hebrew("\\p{Hebrew}"), cjk("(?s).*[\\p{Hiragana}\\p{Katakana}\\p{Han}].*");
  // A.1: letters of Arabic, Syriac, N'Ko, Mongolian and Phags-pa join; marks in between do not count.
  static const re2::RE2 joins(
      "(?s).*[\\p{Arabic}\\p{Syriac}\\p{Nko}\\p{Mongolian}\\p{Phags_Pa}]\\p{M}*\\x{200c}\\p{M}*"
      "[\\p{Arabic}\\p{Syriac}\\p{Nko}\\p{Mongolian}\\p{Phags_Pa}].*");
  const char32_t c = label[at];
  const bool has_before = at > 0, has_after = at + 1 < label.size();
  const auto neighbour = [&](std::size_t index, const re2::RE2& script) {
    return matches(std::u32string_view(label).substr(index, 1), script);
  };
  switch (c) {
    case 0x200c: return (has_before && is_virama(label[at - 1])) || matches(label, joins);
    case 0x200d: return has_before && is_virama(label[at - 1]);
    case 0xb7: return has_before && has_after && label[at - 1] == 'l' && label[at + 1] == 'l';
    case 0x375: return has_after && neighbour(at + 1, greek);
    case 0x5f3:
    case 0x5f4: return has_before && neighbour(at - 1, hebrew);
    case 0x30fb: {
      Label others = label;
      std::erase(others, U'\x30fb');
      return matches(others, cjk);
    }
    default: break;
  }
  const auto holds = [&](char32_t first, char32_t last) {
    return label.find_first_of(std::u32string{first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6,
                                              first + 7, first + 8, last}) != Label::npos;
  };
  if (c >= 0x660 && c <= 0x669) return !holds(0x6f0, 0x6f9);
  if (c >= 0x6f0 && c <= 0x6f9) return !holds(0x660, 0x669);
  return std::nullopt;
}

}  // namespace

bool is_encoded_label(std::string_view punycode) {
  static const re2::RE2 mark("\\p{M}");
  static const re2::RE2 letter_or_digit("[\\p{Ll}\\p{Lo}\\p{Lm}\\p{Mn}\\p{Mc}\\p{Nd}-]");
  if (punycode.empty() || punycode.size() > label_length_max) return false;
  const std::optional<Label> label = decode_punycode(punycode);
  if (!label || label->empty() || label->front() == '-' || label->back() == '-') return false;
  if (label->size() >= 4 && label->substr(2, 2) == U"--") return false;
  if (matches(std::u32string_view(*label).substr(0, 1), mark)) return false;
  bool foreign = false;
  for (std::size_t i = 0; i < label->size(); ++i) {
    const char32_t c = (*label)[i];
    foreign = foreign || c >= 0x80;
    if (is_exceptionally_valid(c)) continue;
    if (is_exceptionally_disallowed(c)) return false;
    if (const auto allowed = contextual_rule(*label, i)) {
      if (!*allowed) return false;
      continue;
    }
    if (!matches(std::u32string_view(*label).substr(i, 1), letter_or_digit)) return false;
  }
  return foreign;
}

}  // namespace cairn::schema
