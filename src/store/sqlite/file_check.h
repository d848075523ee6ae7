// Reads the whole file of a store and says what is damaged, and what is lost with it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "store/sqlite/connection.h"

namespace cairn::sqlite {

struct DamagedPage {
  std::uint32_t number = 0;
  bool missing = false;  // the file ends before it
  bool one_bit = false;  // is wrong in it; it can be put right
  std::string owner;     // the table or index that it belongs to; empty: that is lost with another page
  std::string table;     // of an index: its table
  // A page of a table's rows: those with a number behind the first and up to the second.
  bool has_rows = false;
  std::int64_t after = INT64_MIN;
  std::int64_t upto = INT64_MAX;
};

// At most `max`, in order of their numbers. Pages whose newest version is in the log are left out: that one is read.
Result<std::vector<DamagedPage>> damaged_pages(Connection& connection, std::size_t max);
// Writes such pages anew with a checksum that fits, and syncs the file. By its owner.
enum class Seal { as_they_are, mended };
Result<void> seal_pages(Connection& connection, std::span<const DamagedPage> pages, Seal seal);

}  // namespace cairn::sqlite
