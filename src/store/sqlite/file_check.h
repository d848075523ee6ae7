// Reads the whole file of a store and reports what is damaged and what is lost with it.
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
  bool one_bit = false;  // one bit is wrong; it can be repaired
  std::string owner;     // its table or index; empty if unknown because another page is damaged too
  std::string table;     // of an index: its table
  // For a page of table rows: the rows with numbers after the first and up to the second.
  bool has_rows = false;
  std::int64_t after = INT64_MIN;
  std::int64_t upto = INT64_MAX;
  // False: no trigger counts the changes of its table. Such tables hold nothing of the store: SQLite's statistics
  // (ANALYZE), and tables of other programs.
  bool counted = true;
};

// At most `max` pages, ordered by number. Pages whose newest version is in the log are skipped, because readers use
// that version.
Result<std::vector<DamagedPage>> damaged_pages(Connection& connection, std::size_t max);
// Writes these pages again with correct checksums and syncs the file. Only the owner may call it.
enum class Seal { as_they_are, mended };
Result<void> seal_pages(Connection& connection, std::span<const DamagedPage> pages, Seal seal);

}  // namespace cairn::sqlite
