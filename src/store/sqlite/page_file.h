// The store's file below SQLite. Every page carries a checksum, which is written with the page and checked on each
// read.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::sqlite {

// SQLite allocates the bytes for it: this struct first, then the file of the file system below.
struct PageFile {
  sqlite3_file base;
  std::string path;
  std::size_t page_bytes = 0;  // 0: the header was not seen yet
  bool sealed = false;         // its pages have room for checksums
  int sync_failure = SQLITE_OK;
  sqlite3_int64 end = 0;           // of the part read or written so far
  std::vector<std::uint8_t> copy;  // of the page that is being written
  // Whether pages of the log are also checked on each read.
  bool checks_log = true;
  // If true, another program has written to the file, or may have: a page with a wrong checksum is its work. Otherwise
  // a wrong checksum is damage, and a single wrong bit is repaired.
  std::atomic<bool>* foreign = nullptr;
  // Asked at a wrong checksum while `foreign` is false, because the other program may have written just now.
  bool (*look_for_foreign)(const std::string& path) = nullptr;
  // For that look: a page that cannot be repaired is taken as it is.
  bool takes_any_page = false;

  static int open(sqlite3_vfs* below, const char* name, sqlite3_file* file, int flags, int* out_flags);
  // The file of a connection, or nullptr if it was opened without this layer.
  static PageFile* of(sqlite3* connection);

  sqlite3_file* below();
  const sqlite3_io_methods& call();
  // Whether the range is a whole page as stored on the disk.
  bool is_page(int amount, sqlite3_int64 offset);
  bool is_foreign();
  void learn(const std::uint8_t* header);
};

}  // namespace cairn::sqlite
