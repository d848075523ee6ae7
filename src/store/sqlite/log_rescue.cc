#include "store/sqlite/log_rescue.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/log.h"
#include "store/sqlite/log_check.h"
#include "store/sqlite/log_layer.h"
#include "store/sqlite/owner_lock.h"

namespace cairn::sqlite {

namespace {

// A file opened through SQLite's own layer, so that it is the same disk that SQLite will read.
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

  int open(int flags) {
    int opened = 0;
    return vfs_->xOpen(vfs_, name(), file(), SQLITE_OPEN_WAL | flags, &opened);
  }
  LogFindings check(bool repair) { return check_log(file(), repair); }

  int rewrite() {
    const sqlite3_io_methods& call = *file()->pMethods;
    sqlite3_int64 size = 0;
    int code = SQLITE_OK;
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
  std::vector<std::max_align_t> memory_;  // at least as large as the layer requires
};

}  // namespace

std::string log_damage(const std::string& path) {
  sqlite3_initialize();
  if (OwnerLock::is_held(path)) return {};
  LogOnDisk log(path);
  if (!log.exists() || log.open(SQLITE_OPEN_READONLY) != SQLITE_OK) return {};
  const LogFindings found = log.check(false);
  if (found.repaired > 0 && found.damage.empty()) {
    return std::to_string(found.repaired) + " frames have a wrong bit each; the next owner puts them right";
  }
  return found.damage;
}

Result<void> rescue_log(const std::string& path) {
  sqlite3_initialize();
  LogOnDisk log(path);
  if (!log.exists()) return {};
  int code = log.open(SQLITE_OPEN_READWRITE);
  if (code == SQLITE_OK) {
    const LogFindings found = log.check(true);
    if (!found.damage.empty()) {
      return Error{ErrorCode::corrupt, path + "-wal: " + found.damage +
                                           ". Restore the store from a backup; to give up " +
                                           "what lies behind, remove the log and " + path + ".lock"};
    }
    if (found.repaired > 0) {
      log_warning("store.log_repaired",
                  {{"path", path + "-wal"},
                   {"bits", found.repaired},
                   {"advice", "the disk changed single bits; they were put right by their checksums. Check the disk"}});
    }
    code = found.code;
  }
  if (code == SQLITE_OK) code = log.rewrite();
  if (code != SQLITE_OK) {
    return Error{ErrorCode::unavailable, path + "-wal: cannot be made durable: " + sqlite3_errstr(code)};
  }
  return {};
}

}  // namespace cairn::sqlite
