#include "base/id.h"

#include <algorithm>
#include <array>

#include "base/entropy.h"
#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t time_length = 13;  // 48 bits in hexadecimal and a dash

using Bytes = std::array<std::uint8_t, 16>;

std::string format_uuid(const Bytes& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text(36, '-');
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) ++at;
    text[at++] = digits[bytes[i] >> 4];
    text[at++] = digits[bytes[i] & 0xf];
  }
  return text;
}

void stamp(Bytes& bytes, unsigned version) {
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | (version << 4));
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
}

Bytes new_bytes(Timestamp now) {
  Bytes bytes{};
  fill_random(bytes);
  const auto ms = static_cast<std::uint64_t>(now.unix_ms());
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  stamp(bytes, 7);
  return bytes;
}

std::uint64_t number_at(const Bytes& bytes, std::size_t begin) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | bytes[begin + i];
  return number;
}

}  // namespace

std::string new_uuid(Timestamp now) { return format_uuid(new_bytes(now)); }

std::vector<std::string> new_uuids(Timestamp now, std::size_t count) {
  // Sorted as numbers, which are compared at once and not byte by byte.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> made(count);
  for (auto& [high, low] : made) {
    const Bytes bytes = new_bytes(now);
    high = number_at(bytes, 0);
    low = number_at(bytes, 8);
  }
  std::sort(made.begin(), made.end());
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const auto& [high, low] : made) {
    Bytes bytes;
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
      bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
    }
    texts.push_back(format_uuid(bytes));
  }
  return texts;
}

std::string derived_uuid(std::string_view parent, std::string_view name) {
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  std::string text = std::to_string(parent.size());
  text.push_back(':');
  text.append(parent);
  text.append(name);
  const auto digest = sha256(text);
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = digest[i];
  stamp(bytes, 8);
  std::string id = format_uuid(bytes);
  // A parent's first 48 bits are the time it began: what it causes lies near it in every index.
  if (is_uuid(parent)) id.replace(0, time_length, parent, 0, time_length);
  return id;
}

std::string derived_uuid(std::string_view parent, std::string_view name, std::uint64_t counter) {
  return derived_uuid(parent, std::string(name) + "#" + std::to_string(counter));
}

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return false;
  // Without a branch for each character: every id that comes or goes is looked at here.
  unsigned others = 0;
  for (const char c : text) {
    const auto digit = static_cast<unsigned char>(c - '0');
    const auto letter = static_cast<unsigned char>((c | 0x20) - 'a');
    others += static_cast<unsigned>(digit > 9) & static_cast<unsigned>(letter > 5);
  }
  return others == 4;  // the dashes
}

}  // namespace cairn
