// The store's file below SQLite: every page carries a checksum, written with it and checked when it is read.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::sqlite {

// SQLite allocates the bytes for it: ours first, then the file of the file system below.
struct PageFile {
  sqlite3_file base;
  std::string path;
  std::size_t page_bytes = 0;  // 0: its header was not seen yet
  bool sealed = false;         // its pages have room for checksums
  int sync_failure = SQLITE_OK;
  sqlite3_int64 end = 0;           // of what was read or written
  std::vector<std::uint8_t> copy;  // of the page that is being written
  // Whether pages of its log are checked when they are read, too.
  bool checks_log = true;
  // Another program has written to the file, or may have: a page with a wrong checksum is its work. Otherwise it is
  // damage, and a single bit is put right.
  const std::atomic<bool>* foreign = nullptr;

  static int open(sqlite3_vfs* below, const char* name, sqlite3_file* file, int flags, int* out_flags);
  // The file of a connection, or nullptr when it was opened without this layer.
  static PageFile* of(sqlite3* connection);

  sqlite3_file* below();
  const sqlite3_io_methods& call();
  // A whole page as it lies on the disk.
  bool is_page(int amount, sqlite3_int64 offset);
  void learn(const std::uint8_t* header);
};

}  // namespace cairn::sqlite
