#include "base/id.h"

#include <array>

#include "base/entropy.h"
#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t time_length = 13;  // 48 bits in hexadecimal and a dash

std::string format_uuid(const std::array<std::uint8_t, 16>& bytes) {
  const std::string hex = to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) + "-" +
         hex.substr(20);
}

void stamp(std::array<std::uint8_t, 16>& bytes, unsigned version) {
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | (version << 4));
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
}

}  // namespace

std::string new_uuid(Timestamp now) {
  std::array<std::uint8_t, 16> bytes{};
  fill_random(bytes);
  const auto ms = static_cast<std::uint64_t>(now.unix_ms());
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  stamp(bytes, 7);
  return format_uuid(bytes);
}

std::string derived_uuid(std::string_view parent, std::string_view name) {
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  std::string text = std::to_string(parent.size());
  text.push_back(':');
  text.append(parent);
  text.append(name);
  const auto digest = sha256(text);
  std::array<std::uint8_t, 16> bytes{};
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
