#include "render/deflate.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace cairn::render {
namespace {

constexpr std::size_t window = 32'768;
constexpr std::size_t match_min = 3;
constexpr std::size_t match_max = 258;
constexpr int tries = 8;  // earlier positions checked for a match

class BitWriter {
 public:
  // Least significant bit first.
  void bits(std::uint32_t value, int count) {
    held_ |= static_cast<std::uint64_t>(value) << held_bits_;
    held_bits_ += count;
    while (held_bits_ >= 8) {
      out += static_cast<char>(held_ & 255);
      held_ >>= 8;
      held_bits_ -= 8;
    }
  }
  // Codes go most significant bit first.
  void code(std::uint32_t value, int count) {
    std::uint32_t turned = 0;
    for (int i = 0; i < count; ++i) turned |= (value >> i & 1) << (count - 1 - i);
    bits(turned, count);
  }
  void flush() {
    if (held_bits_ > 0) bits(0, 8 - held_bits_);
  }

  std::string out;

 private:
  std::uint64_t held_ = 0;
  int held_bits_ = 0;
};

void write_symbol(BitWriter& writer, std::uint32_t symbol) {
  if (symbol < 144) return writer.code(0x30 + symbol, 8);
  if (symbol < 256) return writer.code(0x190 + symbol - 144, 9);
  if (symbol < 280) return writer.code(symbol - 256, 7);
  writer.code(0xC0 + symbol - 280, 8);
}

// Both tables of RFC 1951 follow one rule: `plain` values without extra bits, then `group` codes for each further bit.
struct Coded {
  std::uint32_t code;
  std::uint32_t extra;
  int extra_bits;
};
Coded coded(std::uint32_t value, std::uint32_t group) {
  const std::uint32_t plain = 2 * group;
  if (value < plain) return {value, 0, 0};
  int bits = 1;
  std::uint32_t first = plain;
  std::uint32_t code = plain;
  while (value >= first + (group << bits)) {
    first += group << bits;
    code += group;
    ++bits;
  }
  const std::uint32_t offset = value - first;
  return {code + (offset >> bits), offset & ((1u << bits) - 1), bits};
}

void write_match(BitWriter& writer, std::size_t length, std::size_t distance) {
  if (length == match_max) {
    write_symbol(writer, 285);
  } else {
    const Coded held = coded(static_cast<std::uint32_t>(length - match_min), 4);
    write_symbol(writer, 257 + held.code);
    writer.bits(held.extra, held.extra_bits);
  }
  const Coded far = coded(static_cast<std::uint32_t>(distance - 1), 2);
  writer.code(far.code, 5);
  writer.bits(far.extra, far.extra_bits);
}

std::uint32_t adler32(std::string_view bytes) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  while (!bytes.empty()) {
    // The most bytes that can be added before either sum could exceed 32 bits.
    const std::string_view some = bytes.substr(0, 5552);
    for (const char c : some) b += a += static_cast<unsigned char>(c);
    a %= 65521;
    b %= 65521;
    bytes.remove_prefix(some.size());
  }
  return b << 16 | a;
}

class Matches {
 public:
  explicit Matches(std::string_view bytes) : bytes_(bytes), newest_(1u << 15, nowhere), older_(window, nowhere) {}

  void remember(std::size_t at) {
    if (at + match_min > bytes_.size()) return;
    std::uint32_t& newest = newest_[hash(at)];
    older_[at % window] = newest;
    newest = static_cast<std::uint32_t>(at);
  }

  std::size_t find(std::size_t at, std::size_t& distance) const {
    std::size_t best = 0;
    if (at + match_min > bytes_.size()) return best;
    const std::size_t most = std::min(match_max, bytes_.size() - at);
    std::uint32_t place = newest_[hash(at)];
    for (int i = 0; i < tries && place != nowhere && at - place <= window - 1; ++i) {
      std::size_t length = 0;
      while (length < most && bytes_[place + length] == bytes_[at + length]) ++length;
      if (length > best) {
        best = length;
        distance = at - place;
        if (best == most) break;
      }
      const std::uint32_t next = older_[place % window];
      if (next != nowhere && next >= place) break;  // the slot has been reused since
      place = next;
    }
    return best >= match_min ? best : 0;
  }

 private:
  static constexpr std::uint32_t nowhere = 0xFFFFFFFFu;

  std::size_t hash(std::size_t at) const {
    const auto byte = [&](std::size_t i) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at + i]));
    };
    return ((byte(0) | byte(1) << 8 | byte(2) << 16) * 2654435761u) >> 17;
  }

  std::string_view bytes_;
  std::vector<std::uint32_t> newest_;
  std::vector<std::uint32_t> older_;
};

}  // namespace

std::string zlib_compress(std::string_view bytes) {
  BitWriter writer;
  writer.out = "\x78\x01";
  writer.bits(1, 1);  // the last block
  writer.bits(1, 2);  // with the fixed code
  Matches matches(bytes);
  for (std::size_t at = 0; at < bytes.size();) {
    std::size_t distance = 0;
    const std::size_t length = matches.find(at, distance);
    if (length == 0) {
      write_symbol(writer, static_cast<unsigned char>(bytes[at]));
      matches.remember(at++);
      continue;
    }
    write_match(writer, length, distance);
    // Inside long runs every position looks the same, so remembering the first few is enough.
    for (std::size_t i = 0; i < length; ++i, ++at) {
      if (i < 4 || i + 4 > length) matches.remember(at);
    }
  }
  write_symbol(writer, 256);
  writer.flush();
  const std::uint32_t sum = adler32(bytes);
  for (int shift = 24; shift >= 0; shift -= 8) writer.out += static_cast<char>(sum >> shift & 255);
  return std::move(writer.out);
}

}  // namespace cairn::render
