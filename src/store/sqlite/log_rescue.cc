#include "store/sqlite/log_rescue.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "store/sqlite/log_layer.h"

namespace cairn::sqlite {

namespace {

// A file through SQLite's own layer, so that it is the same disk that SQLite will read.
class LogOnDisk {
 public:
  explicit LogOnDisk(const std::string& path)
      : vfs_(sqlite3_vfs_find(nullptr)),
        names_(sqlite3_create_filename(path.c_str(), (path + "-journal").c_str(), (path + "-wal").c_str(), 0, nullptr)),
        memory_(static_cast<std::size_t>(vfs_->szOsFile)) {}
  ~LogOnDisk() {
    if (file()->pMethods != nullptr) file()->pMethods->xClose(file());
    sqlite3_free_filename(names_);
  }
  LogOnDisk(const LogOnDisk&) = delete;
  LogOnDisk& operator=(const LogOnDisk&) = delete;

  bool exists() {
    int answer = 0;
    return vfs_->xAccess(vfs_, name(), SQLITE_ACCESS_EXISTS, &answer) == SQLITE_OK && answer != 0;
  }

  int rewrite() {
    int flags = 0;
    int code = vfs_->xOpen(vfs_, name(), file(), SQLITE_OPEN_WAL | SQLITE_OPEN_READWRITE, &flags);
    if (code != SQLITE_OK) return code;
    const sqlite3_io_methods& call = *file()->pMethods;
    sqlite3_int64 size = 0;
    if (code = call.xFileSize(file(), &size); code != SQLITE_OK) return code;
    std::vector<std::byte> part(static_cast<std::size_t>(std::min<sqlite3_int64>(size, log_part_bytes)));
    for (sqlite3_int64 at = 0; at < size;) {
      const int length = static_cast<int>(std::min<sqlite3_int64>(size - at, log_part_bytes));
      if (code = call.xRead(file(), part.data(), length, at); code != SQLITE_OK) return code;
      if (code = call.xWrite(file(), part.data(), length, at); code != SQLITE_OK) return code;
      at += length;
    }
    return call.xSync(file(), SQLITE_SYNC_FULL);
  }

 private:
  sqlite3_filename name() const { return sqlite3_filename_wal(names_); }
  sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(memory_.data()); }

  sqlite3_vfs* vfs_;
  sqlite3_filename names_;
  std::vector<std::max_align_t> memory_;  // at least as large as the layer asks for
};

}  // namespace

Result<void> rescue_log(const std::string& path) {
  sqlite3_initialize();
  LogOnDisk log(path);
  if (!log.exists()) return {};
  if (const int code = log.rewrite(); code != SQLITE_OK) {
    return Error{ErrorCode::unavailable, path + "-wal: cannot be made durable: " + sqlite3_errstr(code)};
  }
  return {};
}

}  // namespace cairn::sqlite
