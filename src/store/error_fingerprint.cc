#include "store/error_fingerprint.h"

#include <algorithm>

#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t pattern_bytes_max = 200;
constexpr std::size_t plain_digits_max = 3;  // a status of HTTP tells failures apart; an id does not
constexpr std::size_t fingerprint_characters = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Whether a word is an id or a number that says nothing about the cause.
bool varies(std::string_view word) {
  if (std::none_of(word.begin(), word.end(), is_digit)) return false;
  return word.size() > plain_digits_max || !std::all_of(word.begin(), word.end(), is_digit);
}

}  // namespace

std::string error_pattern(std::string_view message) {
  std::string pattern;
  for (std::size_t at = 0; at < message.size() && pattern.size() < pattern_bytes_max;) {
    const char c = message[at];
    const bool opens = c == '"' || (c == '\'' && (at == 0 || !is_word(message[at - 1])));
    const std::size_t closing = opens ? message.find(c, at + 1) : std::string_view::npos;
    if (closing != std::string_view::npos) {
      (pattern += c) += c;
      at = closing + 1;
      continue;
    }
    if (!is_word(c)) {
      pattern += c;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < message.size() && is_word(message[end])) ++end;
    const std::string_view word = message.substr(at, end - at);
    pattern += varies(word) ? std::string_view("#") : word;
    at = end;
  }
  pattern.resize(std::min(pattern.size(), pattern_bytes_max));
  return pattern;
}

std::string error_fingerprint(std::string_view definition, std::string_view step, std::string_view code,
                              std::string_view message) {
  std::string text;
  for (const std::string_view part : {definition, step, code}) (text += part) += '\n';
  return sha256_hex(text + error_pattern(message)).substr(0, fingerprint_characters);
}

std::string error_fingerprint(std::string_view definition, const Failure& failure) {
  return error_fingerprint(definition, failure.step, failure.code, failure.message);
}

}  // namespace cairn
