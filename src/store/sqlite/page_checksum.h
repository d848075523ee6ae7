// Checksums of what lies on the disk: of a page in the store's file, and of a frame in its write-ahead log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cairn::sqlite {

// Each page ends with this many bytes that SQLite leaves to us ("reserved space"): its checksum.
inline constexpr int page_checksum_bytes = 8;

// Covers the page's number too: a page that was written to the wrong place is found. Never 0: that means "no checksum".
std::uint64_t page_checksum(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);

enum class PageState {
  intact,
  unsealed,  // its checksum is 0: another program wrote it to the file
  damaged,
};
PageState check_page(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);
// Puts a page right in which one bit is wrong. False: more is wrong with it.
bool mend_page(std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);
void seal_page(std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);

// SQLite's checksum of the log: each frame's continues that of the frame before it.
struct LogSum {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const LogSum&) const = default;
};
LogSum log_sum(LogSum from, const std::uint8_t* bytes, std::size_t size, bool big_endian);

inline constexpr std::size_t log_header_bytes = 32;
inline constexpr std::size_t frame_header_bytes = 24;

std::uint32_t read_big_endian(const std::uint8_t* bytes);
void write_big_endian(std::uint8_t* bytes, std::uint32_t value);
LogSum read_sum(const std::uint8_t* bytes);

// What a read of this thread found damaged last: SQLite itself only says that reading failed.
void note_damage(std::string what);
std::string take_damage();

}  // namespace cairn::sqlite
