#include "base/id.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <functional>

#include "base/entropy.h"
#include "base/ordered_id.h"
#include "base/sha256.h"

namespace cairn {
namespace {

constexpr std::size_t time_length = 13;  // 48 bits in hexadecimal and a dash

std::string format_uuid(const UuidBytes& bytes) {
  constexpr const char* digits = "0123456789abcdef";
  char text[36];
  char* to = text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
    *to++ = digits[bytes[i] >> 4];
    *to++ = digits[bytes[i] & 0xf];
  }
  return std::string(text, sizeof text);
}

void stamp(UuidBytes& bytes, unsigned version) {
  bytes[6] = static_cast<std::uint8_t>((bytes[6] & 0x0F) | (version << 4));
  bytes[8] = static_cast<std::uint8_t>((bytes[8] & 0x3F) | 0x80);
}

UuidBytes new_bytes(Timestamp now) {
  UuidBytes bytes{};
  fill_random(bytes);
  const auto ms = static_cast<std::uint64_t>(now.unix_ms());
  for (std::size_t i = 0; i < 6; ++i) bytes[i] = static_cast<std::uint8_t>(ms >> (40 - 8 * i));
  stamp(bytes, 7);
  return bytes;
}

std::uint64_t number_at(const UuidBytes& bytes, std::size_t begin) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | bytes[begin + i];
  return number;
}

}  // namespace

std::string new_uuid(Timestamp now) { return format_uuid(new_bytes(now)); }

std::vector<std::string> new_uuids(Timestamp now, std::size_t count) {
  // Sorted as numbers, because one comparison of numbers replaces many of bytes.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> made(count);
  for (auto& [high, low] : made) {
    const UuidBytes bytes = new_bytes(now);
    high = number_at(bytes, 0);
    low = number_at(bytes, 8);
  }
  std::sort(made.begin(), made.end());
  std::vector<std::string> texts;
  texts.reserve(count);
  for (const auto& [high, low] : made) {
    UuidBytes bytes;
    for (std::size_t i = 0; i < 8; ++i) {
      bytes[i] = static_cast<std::uint8_t>(high >> (56 - 8 * i));
      bytes[8 + i] = static_cast<std::uint8_t>(low >> (56 - 8 * i));
    }
    texts.push_back(format_uuid(bytes));
  }
  return texts;
}

namespace {

// `number` is "#7", or nothing.
std::string derive(std::string_view parent, std::string_view name, std::string_view number) {
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  std::string text;
  text.reserve(24 + parent.size() + name.size() + number.size());
  text += std::to_string(parent.size());
  text += ':';
  text += parent;
  text += name;
  text += number;
  const auto digest = sha256(text);
  UuidBytes bytes;
  std::memcpy(bytes.data(), digest.data(), bytes.size());
  stamp(bytes, 8);
  std::string id = format_uuid(bytes);
  // The first 48 bits of a parent are the time at which it started. Its derived ids keep them, so they are close to the
  // parent in every index.
  if (is_uuid(parent)) std::memcpy(id.data(), parent.data(), time_length);
  return id;
}

}  // namespace

std::string derived_uuid(std::string_view parent, std::string_view name) { return derive(parent, name, {}); }

std::string derived_uuid(std::string_view parent, std::string_view name, std::uint64_t counter) {
  char number[21] = "#";
  const char* const end = std::to_chars(number + 1, std::end(number), counter).ptr;
  return derive(parent, name, {number, static_cast<std::size_t>(end - number)});
}

std::string ordered_uuid(std::string_view parent, std::string_view name, std::uint64_t counter) {
  constexpr const char* digits = "0123456789abcdef";
  std::string id = derived_uuid(parent, name, counter);
  if (!is_uuid(parent)) id.replace(0, time_length, derived_uuid(parent, name), 0, time_length);
  const auto digit = [&](std::size_t at, unsigned shift) { id[at] = digits[(counter >> shift) & 0xF]; };
  digit(15, 22);
  digit(16, 18);
  digit(17, 14);
  id[19] = digits[8 + ((counter >> 12) & 3)];
  digit(20, 8);
  digit(21, 4);
  digit(22, 0);
  return id;
}

namespace {

// The digits of a UUID are read eight at a time, because every id that enters or leaves passes through here.
constexpr std::uint64_t in_each_byte(std::uint64_t byte) { return byte * 0x0101010101010101; }
constexpr std::size_t first_digits = 0, middle_digits = 9, later_digits = 19, last_digits = 28;

std::uint64_t eight_digits(const char* at) {
  std::uint64_t digits = 0;
  std::memcpy(&digits, at, sizeof digits);
  return digits;
}
// The four digits on each side of a dash.
std::uint64_t four_and_four(const char* at) {
  std::uint64_t digits = 0;
  std::memcpy(&digits, at, 4);
  std::memcpy(reinterpret_cast<char*>(&digits) + 4, at + 5, 4);
  return digits;
}

// Letters have bit 6 set, and their value is their lowest four bits plus nine.
std::uint64_t values_of(std::uint64_t digits) {
  return (digits & in_each_byte(0x0F)) + ((digits >> 6) & in_each_byte(1)) * 9;
}

// Whether each digit is one of 0-9 and a-f: such a digit equals the text of its value.
bool are_plain(std::uint64_t digits) {
  const std::uint64_t values = values_of(digits);
  const std::uint64_t letters = ((values + in_each_byte(0x80 - 10)) >> 7) & in_each_byte(1);
  const std::uint64_t written = values + in_each_byte('0') + letters * ('a' - 10 - '0');
  return written == digits && (values & in_each_byte(0xF0)) == 0;
}

void put_bytes(std::uint64_t digits, std::uint8_t* to) {
  static_assert(std::endian::native == std::endian::little, "the first digit is taken from the lowest byte");
  const std::uint64_t values = values_of(digits);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto pair = static_cast<std::uint16_t>(values >> (16 * i));
    to[i] = static_cast<std::uint8_t>(pair << 4 | pair >> 8);
  }
}

// Turns letters into lower case. It turns no other character into a digit.
std::uint64_t lowered(std::uint64_t digits) { return digits | ((digits >> 1) & in_each_byte(0x20)); }

template <class Each>
bool is_written(std::string_view text, const Each& each) {
  if (text.size() != 36) return false;
  if (text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-') return false;
  return are_plain(each(eight_digits(text.data() + first_digits))) &&
         are_plain(each(four_and_four(text.data() + middle_digits))) &&
         are_plain(each(four_and_four(text.data() + later_digits))) &&
         are_plain(each(eight_digits(text.data() + last_digits)));
}

}  // namespace

bool is_uuid(std::string_view text) { return is_written(text, lowered); }
bool is_plain_uuid(std::string_view text) { return is_written(text, std::identity()); }

UuidBytes uuid_bytes(std::string_view uuid) {
  UuidBytes bytes{};
  if (uuid.size() != 36) return bytes;
  put_bytes(eight_digits(uuid.data() + first_digits), bytes.data());
  put_bytes(four_and_four(uuid.data() + middle_digits), bytes.data() + 4);
  put_bytes(four_and_four(uuid.data() + later_digits), bytes.data() + 8);
  put_bytes(eight_digits(uuid.data() + last_digits), bytes.data() + 12);
  return bytes;
}

}  // namespace cairn
