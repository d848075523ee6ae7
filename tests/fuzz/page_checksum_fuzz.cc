// Any page of a store's file with some bits changed: a sealed page is intact, every change is noticed, one wrong bit is
// repaired, and a page is never repaired to anything but itself.
#include "store/sqlite/page_checksum.h"

#include <cstring>

#include "input.h"

void fuzz(std::string_view input) {
  using namespace cairn::sqlite;
  constexpr std::size_t page_bytes = 512;
  const std::uint32_t number = 2 + cairn::fuzzing::take_byte(input);
  const std::size_t flips = cairn::fuzzing::take_byte(input) % 4;
  std::size_t bits[3] = {};
  for (std::size_t i = 0; i < flips; ++i) {
    bits[i] =
        (std::size_t{cairn::fuzzing::take_byte(input)} << 8 | cairn::fuzzing::take_byte(input)) % (page_bytes * 8);
  }
  std::uint8_t page[page_bytes] = {};
  std::memcpy(page, input.data(), std::min(input.size(), page_bytes - 8));
  seal_page(page, page_bytes, number);
  CAIRN_ASSERT(check_page(page, page_bytes, number) == PageState::intact);
  CAIRN_ASSERT(check_page(page, page_bytes, number + 1) != PageState::intact);
  std::uint8_t damaged[page_bytes];
  std::memcpy(damaged, page, page_bytes);
  for (std::size_t i = 0; i < flips; ++i) damaged[bits[i] / 8] ^= static_cast<std::uint8_t>(1u << bits[i] % 8);
  if (std::memcmp(page, damaged, page_bytes) == 0) return;
  CAIRN_ASSERT(check_page(damaged, page_bytes, number) != PageState::intact);
  const bool mended = mend_page(damaged, page_bytes, number);
  if (flips == 1) CAIRN_ASSERT(mended && std::memcmp(page, damaged, page_bytes) == 0);
  if (mended) CAIRN_ASSERT(check_page(damaged, page_bytes, number) == PageState::intact);
}
