#include "render/deflate.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace cairn::render {
namespace {

// An inflater for blocks with the fixed code, written from RFC 1951. It shares no code with the compressor.
class Inflater {
 public:
  explicit Inflater(std::string_view bytes) : bytes_(bytes) {}

  std::string run() {
    EXPECT_EQ(take(1), 1u);
    EXPECT_EQ(take(2), 1u);
    static constexpr int length_base[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                          31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr int length_bits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                          2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr int distance_base[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                            33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                            1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static constexpr int distance_bits[] = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                            6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    std::string out;
    for (;;) {
      const unsigned symbol = next_symbol();
      if (symbol == 256) return out;
      if (symbol < 256) {
        out += static_cast<char>(symbol);
        continue;
      }
      const std::size_t length = static_cast<std::size_t>(length_base[symbol - 257]) + take(length_bits[symbol - 257]);
      const unsigned code = take_code(5);
      const std::size_t distance = static_cast<std::size_t>(distance_base[code]) + take(distance_bits[code]);
      if (distance > out.size() || failed_) {
        ADD_FAILURE() << "distance " << distance << " at " << out.size();
        return out;
      }
      for (std::size_t i = 0; i < length; ++i) out += out[out.size() - distance];
    }
  }

 private:
  unsigned bit() {
    if (at_ / 8 >= bytes_.size()) {
      failed_ = true;
      return 0;
    }
    const unsigned value = static_cast<unsigned char>(bytes_[at_ / 8]) >> (at_ % 8) & 1u;
    ++at_;
    return value;
  }
  unsigned take(int count) {
    unsigned value = 0;
    for (int i = 0; i < count; ++i) value |= bit() << i;
    return value;
  }
  unsigned take_code(int count) {
    unsigned value = 0;
    for (int i = 0; i < count; ++i) value = value << 1 | bit();
    return value;
  }
  unsigned next_symbol() {
    unsigned code = take_code(7);
    if (failed_) return 256;
    if (code <= 0x17) return 256 + code;
    code = code << 1 | bit();
    if (code >= 0x30 && code <= 0xBF) return code - 0x30;
    if (code >= 0xC0 && code <= 0xC7) return 280 + code - 0xC0;
    code = code << 1 | bit();
    return 144 + code - 0x190;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::string decompress(const std::string& zlib) { return Inflater(std::string_view(zlib).substr(2)).run(); }

TEST(Deflate, ComesBackByteForByte) {
  std::string mixed;
  std::uint32_t state = 7;
  for (int i = 0; i < 200'000; ++i) {
    state = state * 1664525u + 1013904223u;
    mixed += i / 1000 % 3 == 0 ? static_cast<char>(state >> 24) : i / 1000 % 3 == 1 ? '\0' : static_cast<char>(i % 97);
  }
  for (const std::string& text :
       {std::string(), std::string("a"), std::string(1000, 'x'), std::string(259, '\xFF'), mixed}) {
    EXPECT_TRUE(decompress(zlib_compress(text)) == text) << text.size();
  }
  EXPECT_LT(zlib_compress(std::string(1'000'000, '\0')).size(), 8000u);
}

TEST(Deflate, EndsInTheChecksumOfRfc1950) {
  const std::string packed = zlib_compress("Wikipedia");
  EXPECT_EQ(packed.substr(packed.size() - 4), "\x11\xE6\x03\x98");
  EXPECT_EQ((static_cast<unsigned char>(packed[0]) * 256 + static_cast<unsigned char>(packed[1])) % 31, 0);
}

}  // namespace
}  // namespace cairn::render
