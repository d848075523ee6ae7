#include "base/base64url.h"

#include <cstdint>

namespace cairn {
namespace {

constexpr std::string_view base64url_letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

std::string base64url(std::string_view bytes) {
  std::string out;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : bytes) {
    held = held << 8 | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out += base64url_letters[held >> (bits - 6) & 63];
  }
  if (bits > 0) out += base64url_letters[held << (6 - bits) & 63];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string out;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = base64url_letters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    held = held << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xff);
  }
  // One text for each value: the remaining bits are zero, and fewer than six.
  if (bits >= 6 || (held & ((1u << bits) - 1)) != 0) return std::nullopt;
  return out;
}

}  // namespace cairn
