#include "store/sqlite/page_checksum.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace cairn::sqlite {

namespace {

thread_local std::string damage;

std::uint64_t load(const std::uint8_t* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

std::uint64_t stored_checksum(const std::uint8_t* page, std::size_t page_bytes) {
  return load(page + page_bytes - page_checksum_bytes);
}

constexpr std::size_t lane_count = 4;
using Lanes = std::array<std::uint64_t, lane_count>;
constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
constexpr std::uint64_t inverse_factor = 0xf1de83e19937733d;
static_assert(factor * inverse_factor == 1);

Lanes first_lanes(std::uint32_t number) {
  return {0x243f6a8885a308d3u ^ number, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89};
}

std::uint64_t stir(std::uint64_t state, std::uint64_t word) {
  const std::uint64_t mixed = (state ^ word) * factor;
  return mixed ^ (mixed >> 29);
}
// Inverts `stir`: the state before, mixed with its word.
std::uint64_t unstir(std::uint64_t state) { return (state ^ (state >> 29) ^ (state >> 58)) * inverse_factor; }

// Four lanes, because each multiplication waits for the previous one of its lane.
Lanes lanes_of(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) {
  Lanes lanes = first_lanes(number);
  const std::size_t covered = page_bytes - page_checksum_bytes;
  std::size_t at = 0;
  for (; at + 8 * lane_count <= covered; at += 8 * lane_count) {
    for (std::size_t lane = 0; lane < lane_count; ++lane) lanes[lane] = stir(lanes[lane], load(page + at + 8 * lane));
  }
  for (std::size_t lane = 0; at + 8 <= covered; at += 8, ++lane) lanes[lane] = stir(lanes[lane], load(page + at));
  return lanes;
}

// A change within one word always changes the sum.
std::uint64_t sum_of(const Lanes& lanes) {
  std::uint64_t sum = lanes[0];
  for (std::size_t lane = 1; lane < lane_count; ++lane) sum = (std::rotl(sum, 23) ^ lanes[lane]) * factor;
  return sum ^ (sum >> 32);
}

// The value that this lane must have for the sum if the other lanes are right.
std::uint64_t lane_for(std::uint64_t sum, const Lanes& lanes, std::size_t wanted) {
  std::uint64_t rest = sum ^ (sum >> 32);
  for (std::size_t lane = lane_count - 1; lane > wanted; --lane) {
    rest = std::rotr(rest * inverse_factor ^ lanes[lane], 23);
  }
  if (wanted == 0) return rest;
  std::uint64_t before = lanes[0];
  for (std::size_t lane = 1; lane < wanted; ++lane) before = (std::rotl(before, 23) ^ lanes[lane]) * factor;
  return rest * inverse_factor ^ std::rotl(before, 23);
}

// Finds the single bit that explains the stored sum. Every step is invertible, so each lane is computed from both ends.
// The expected value of a word is what lies between.
std::optional<std::size_t> wrong_bit(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number,
                                     std::uint64_t stored) {
  const Lanes reached = lanes_of(page, page_bytes, number);
  const std::size_t words = (page_bytes - page_checksum_bytes) / 8;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    std::vector<std::uint64_t> before;  // the lane's state before each of its words
    std::uint64_t state = first_lanes(number)[lane];
    for (std::size_t word = lane; word < words; word += lane_count) {
      before.push_back(state);
      state = stir(state, load(page + 8 * word));
    }
    std::uint64_t after = lane_for(stored, reached, lane);
    for (std::size_t i = before.size(); i-- > 0;) {
      const std::size_t word = lane + i * lane_count;
      const std::uint64_t wrong = unstir(after) ^ before[i] ^ load(page + 8 * word);
      if (std::popcount(wrong) == 1) return 64 * word + static_cast<std::size_t>(std::countr_zero(wrong));
      after = unstir(after) ^ load(page + 8 * word);
    }
  }
  return std::nullopt;
}

// The bytes that a checksum covers. Some numbers on the first page are SQLite's own: the change counter, the version
// that wrote it and the schema cookie. Another program changes them without touching a table, so they are left out. The
// same holds for the kind of log: a copy that was set to `journal_mode = DELETE` counts as one with a write-ahead log.
class Covered {
 public:
  Covered(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) : bytes_(page) {
    if (number != 1) return;
    copy_.assign(page, page + page_bytes);
    for (const auto& [from, size] : {std::pair{24, 4}, std::pair{60, 4}, std::pair{92, 8}}) {
      std::memset(copy_.data() + from, 0, static_cast<std::size_t>(size));
    }
    constexpr std::size_t log_kind = 18;  // of writers, then of readers
    constexpr std::uint8_t rollback = 1, write_ahead = 2;
    if (copy_[log_kind] == rollback && copy_[log_kind + 1] == rollback) {
      std::memset(copy_.data() + log_kind, write_ahead, 2);
    }
    bytes_ = copy_.data();
  }
  const std::uint8_t* bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> copy_;
  const std::uint8_t* bytes_;
};

// A sector of zeros where a page with rows has its first ones. A disk that lost a write leaves this.
bool lost_its_end(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) {
  constexpr std::size_t sector = 512;
  const std::uint8_t* const head = page + (number == 1 ? 100 : 0);
  const bool tree = head[0] == 2 || head[0] == 5 || head[0] == 10 || head[0] == 13;
  const bool has_rows = head[3] != 0 || head[4] != 0;
  return tree && has_rows &&
         std::all_of(page + page_bytes - sector, page + page_bytes, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::uint64_t page_checksum(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) {
  const Covered covered(page, page_bytes, number);
  const std::uint64_t sum = sum_of(lanes_of(covered.bytes(), page_bytes, number));
  return sum == 0 ? 1 : sum;
}

bool mend_page(std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) {
  const std::uint64_t stored = stored_checksum(page, page_bytes);
  if (std::popcount(stored ^ page_checksum(page, page_bytes, number)) == 1) {
    seal_page(page, page_bytes, number);
    return true;
  }
  const Covered covered(page, page_bytes, number);
  const auto bit = wrong_bit(covered.bytes(), page_bytes, number, stored);
  if (!bit) return false;
  page[*bit / 8] = static_cast<std::uint8_t>(page[*bit / 8] ^ (1u << *bit % 8));
  if (page_checksum(page, page_bytes, number) == stored) return true;
  page[*bit / 8] = static_cast<std::uint8_t>(page[*bit / 8] ^ (1u << *bit % 8));
  return false;
}

PageState check_page(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) {
  const std::uint64_t stored = stored_checksum(page, page_bytes);
  if (stored == 0) return lost_its_end(page, page_bytes, number) ? PageState::damaged : PageState::unsealed;
  return stored == page_checksum(page, page_bytes, number) ? PageState::intact : PageState::damaged;
}

void seal_page(std::uint8_t* page, std::size_t page_bytes, std::uint32_t number) {
  std::uint64_t sum = page_checksum(page, page_bytes, number);
  if constexpr (std::endian::native == std::endian::big) sum = __builtin_bswap64(sum);
  std::memcpy(page + page_bytes - page_checksum_bytes, &sum, sizeof sum);
}

namespace {

template <bool swap>
LogSum add_words(LogSum sum, const std::uint8_t* bytes, std::size_t size) {
  for (const std::uint8_t* const end = bytes + size; bytes < end; bytes += 8) {
    std::uint32_t words[2];
    std::memcpy(words, bytes, sizeof words);
    if constexpr (swap) {
      words[0] = __builtin_bswap32(words[0]);
      words[1] = __builtin_bswap32(words[1]);
    }
    sum.first += words[0] + sum.second;
    sum.second += words[1] + sum.first;
  }
  return sum;
}

}  // namespace

LogSum log_sum(LogSum from, const std::uint8_t* bytes, std::size_t size, bool big_endian) {
  const bool swap = big_endian != (std::endian::native == std::endian::big);
  return swap ? add_words<true>(from, bytes, size) : add_words<false>(from, bytes, size);
}

std::uint32_t read_big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

void write_big_endian(std::uint8_t* bytes, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

LogSum read_sum(const std::uint8_t* bytes) { return {read_big_endian(bytes), read_big_endian(bytes + 4)}; }

void note_damage(std::string what) { damage = std::move(what); }
std::string take_damage() { return std::exchange(damage, {}); }

}  // namespace cairn::sqlite
