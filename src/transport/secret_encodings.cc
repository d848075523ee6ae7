#include "transport/secret_encodings.h"

#include <algorithm>

#include "base/json.h"
#include "base/sha256.h"
#include "expr/base64.h"

namespace cairn {

namespace {

constexpr std::size_t secret_bytes_min = 3;
// Shorter base64 parts of a secret match unrelated text by chance.
constexpr std::size_t base64_chars_min = 6;

std::string upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string percent_encoded(std::string_view text, bool upper_case, std::string_view space) {
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool plain = letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else if (c == ' ') {
      out += space;
    } else {
      const std::string hex = to_hex(std::string_view(&c, 1));
      out += "%" + (upper_case ? upper(hex) : hex);
    }
  }
  return out;
}

// The base64 characters that depend on the secret alone, if `before` bytes of its first group belong to other data.
std::string base64_core(std::string_view secret, std::size_t before) {
  const std::string encoded = expr::base64_encode(std::string(before, '\0') + std::string(secret));
  const std::size_t begin = before == 0 ? 0 : before + 1;
  const std::size_t end = (before + secret.size()) * 8 / 6;
  return encoded.substr(begin, end - begin);
}

}  // namespace

std::vector<std::string> spellings_of(std::string_view secret) {
  if (secret.size() < secret_bytes_min) return {};
  std::vector<std::string> all{std::string(secret)};
  std::string json;
  write_json_string(secret, json);
  all.push_back(json.substr(1, json.size() - 2));
  all.push_back(to_hex(secret));
  all.push_back(upper(all.back()));
  for (const bool upper_case : {true, false}) {
    for (const std::string_view space : {"%20", "+"}) all.push_back(percent_encoded(secret, upper_case, space));
  }
  for (std::size_t before = 0; before < 3; ++before) {
    std::string core = base64_core(secret, before);
    if (core.size() < base64_chars_min) continue;
    all.push_back(core);
    std::replace(core.begin(), core.end(), '+', '-');
    std::replace(core.begin(), core.end(), '/', '_');
    all.push_back(std::move(core));
  }
  // Longest first: masking a shorter encoding first would leave the rest of a longer one readable.
  std::sort(all.begin(), all.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace cairn
