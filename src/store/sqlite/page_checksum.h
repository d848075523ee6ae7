// Checksums of data on the disk: of a page in the store's file, and of a frame in its write-ahead log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace cairn::sqlite {

// Each page ends with this many bytes that SQLite leaves to us ("reserved space"). They hold the checksum.
inline constexpr int page_checksum_bytes = 8;

// The checksum covers the page's number too, so a page written to the wrong place is found. It is never 0, which means
// "no checksum".
std::uint64_t page_checksum(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);

enum class PageState {
  intact,
  unsealed,  // its checksum is 0: another program wrote it to the file
  damaged,
};
PageState check_page(const std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);
// Repairs a page with one wrong bit. False if more is wrong.
bool mend_page(std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);
void seal_page(std::uint8_t* page, std::size_t page_bytes, std::uint32_t number);

// SQLite's checksum of the log. The checksum of each frame continues that of the previous frame.
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

// The last damage that a read of this thread found. SQLite itself only reports that reading failed.
void note_damage(std::string what);
std::string take_damage();

}  // namespace cairn::sqlite
