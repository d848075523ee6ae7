#include "store/sqlite/log_layer.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "store/sqlite/page_checksum.h"
#include "store/sqlite/page_file.h"

namespace cairn::sqlite {

namespace {

constexpr std::size_t gathered_max = 1 << 20;

}  // namespace

// SQLite allocates `szOsFile` bytes for a file: this struct first, then the file of the file system below.
struct LogFile {
  sqlite3_file base;
  std::vector<char> gathered;  // to be written at `from`
  sqlite3_int64 from = 0;
  LogProgress* progress = nullptr;
  std::atomic<int> sync_flags = SQLITE_SYNC_NORMAL;  // of the omitted sync; another thread makes it up
  std::string path;
  sqlite3_int64 end = 0;            // of the written part
  sqlite3_int64 rewritten = never;  // from here on checksums are valid only at the end of the transaction
  bool big_endian = false;          // byte order of its checksums
  bool header_seen = false;
  const PageFile* store = nullptr;
  std::vector<std::uint8_t> frame;  // the frame that is being checked

  static constexpr sqlite3_int64 never = INT64_MAX;

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods& call() { return *below()->pMethods; }

  int flush() {
    if (gathered.empty()) return SQLITE_OK;
    int code = still_whole();
    const int size = static_cast<int>(gathered.size());
    for (int at = 0; at < size && code == SQLITE_OK; at += log_part_bytes) {
      code = call().xWrite(below(), gathered.data() + at, std::min(log_part_bytes, size - at), from + at);
    }
    // After an error SQLite abandons the transaction and these pages.
    if (code != SQLITE_OK) end = from;
    gathered.clear();
    return code;
  }

  // If another program truncated the log, this write would leave a hole, and recovery would stop there.
  int still_whole() {
    sqlite3_int64 size = 0;
    const int code = call().xFileSize(below(), &size);
    if (code != SQLITE_OK || size >= from) return code;
    note_damage(path + " was truncated");
    return SQLITE_IOERR_CORRUPTFS;
  }

  // Reads a frame's page and checks it against the frame's header and the previous checksum. SQLite itself checks these
  // only during recovery.
  int read_page(std::uint8_t* into, int amount, sqlite3_int64 offset) {
    constexpr auto head = static_cast<sqlite3_int64>(frame_header_bytes);
    const sqlite3_int64 start = offset - head;
    frame.resize(frame_header_bytes + static_cast<std::size_t>(amount));
    int code = call().xRead(below(), frame.data(), static_cast<int>(frame.size()), start);
    if (code != SQLITE_OK) return code;
    std::memcpy(into, frame.data() + head, static_cast<std::size_t>(amount));
    if (start >= rewritten) return SQLITE_OK;
    if (!header_seen) {
      std::uint8_t magic[4];
      if (code = call().xRead(below(), magic, sizeof magic, 0); code != SQLITE_OK) return code;
      big_endian = (magic[3] & 1) != 0;
      header_seen = true;
    }
    const bool is_first = start == static_cast<sqlite3_int64>(log_header_bytes);
    std::uint8_t before[8];
    code = call().xRead(below(), before, sizeof before,
                        is_first ? start - 8 : start - static_cast<sqlite3_int64>(frame.size()) + 16);
    if (code != SQLITE_OK) return code;
    LogSum sum = log_sum(read_sum(before), frame.data(), 8, big_endian);
    sum = log_sum(sum, frame.data() + head, static_cast<std::size_t>(amount), big_endian);
    if (sum == read_sum(frame.data() + 16)) return SQLITE_OK;
    note_damage("page " + std::to_string(read_big_endian(frame.data())) + " in " + path +
                " does not match its checksum: the disk or another program changed it");
    return SQLITE_IOERR_DATA;
  }

  // Syncs everything written so far.
  int sync(int flags) {
    const std::uint64_t written = progress == nullptr ? 0 : progress->written_.load();
    const int code = call().xSync(below(), flags);
    if (progress == nullptr) return code;
    const std::lock_guard lock(progress->mutex_);
    return progress->note(written, code);
  }

  // Whether to omit the sync at the end of a commit. The sync after the header of a new log is never omitted: pages of
  // the new log must not reach the disk under the header of the old one.
  bool leaves_out(bool begins_log, int flags) {
    if (progress == nullptr || !progress->deferring_ || begins_log) return false;
    if (progress->written_ - progress->synced_ >= unsynced_max) return false;
    progress->deferring_ = false;
    sync_flags = flags;
    ++progress->written_;  // before SQLite makes it visible to readers
    return true;
  }

  void use(LogProgress& with) {
    progress = &with;
    const std::lock_guard lock(with.mutex_);
    with.file_ = this;
  }

  // When this returns, no thread syncs the file any more.
  void leave() {
    if (progress == nullptr) return;
    std::unique_lock lock(progress->mutex_);
    progress->changed_.wait(lock, [this] { return !progress->syncing_; });
    progress->file_ = nullptr;
  }
};

namespace {

LogFile& ours(sqlite3_file* file) { return *reinterpret_cast<LogFile*>(file); }

int log_close(sqlite3_file* file) {
  LogFile& log = ours(file);
  const int written = log.flush();
  log.leave();
  const int closed = log.call().xClose(log.below());
  log.~LogFile();
  return written == SQLITE_OK ? closed : written;
}

int log_read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  LogFile& log = ours(file);
  if (const int code = log.flush(); code != SQLITE_OK) return code;
  constexpr auto heads = static_cast<sqlite3_int64>(log_header_bytes + frame_header_bytes);
  // Recovery reads whole frames, whose length is never a page size, and checks them itself.
  const bool is_page = amount >= 512 && std::has_single_bit(static_cast<unsigned>(amount)) && offset >= heads &&
                       (offset - heads) % (amount + static_cast<int>(frame_header_bytes)) == 0;
  if (is_page && log.store->checks_log) return log.read_page(static_cast<std::uint8_t*>(into), amount, offset);
  return log.call().xRead(log.below(), into, amount, offset);
}

int log_write(sqlite3_file* file, const void* bytes, int amount, sqlite3_int64 offset) {
  LogFile& log = ours(file);
  const bool contiguous = offset == log.from + static_cast<sqlite3_int64>(log.gathered.size());
  if (!contiguous || log.gathered.size() >= gathered_max) {
    if (const int code = log.flush(); code != SQLITE_OK) return code;
  }
  if (log.gathered.empty()) log.from = offset;
  // A page that a large transaction writes twice keeps its place. The following checksums are corrected at its end.
  if (offset == 0) log.end = 0;
  if (amount >= 512 && offset < log.end) log.rewritten = std::min(log.rewritten, offset - 24);
  log.end = std::max(log.end, offset + amount);
  const char* const text = static_cast<const char*>(bytes);
  log.gathered.insert(log.gathered.end(), text, text + amount);
  return SQLITE_OK;
}

int log_truncate(sqlite3_file* file, sqlite3_int64 size) {
  LogFile& log = ours(file);
  if (const int code = log.flush(); code != SQLITE_OK) return code;
  log.end = std::min(log.end, size);
  return log.call().xTruncate(log.below(), size);
}

int log_sync(sqlite3_file* file, int flags) {
  LogFile& log = ours(file);
  const bool begins_log = !log.gathered.empty() && log.from == 0;
  if (const int code = log.flush(); code != SQLITE_OK) return code;
  log.rewritten = LogFile::never;
  return log.leaves_out(begins_log, flags) ? SQLITE_OK : log.sync(flags);
}

int log_size(sqlite3_file* file, sqlite3_int64* size) {
  LogFile& log = ours(file);
  if (const int code = log.flush(); code != SQLITE_OK) return code;
  return log.call().xFileSize(log.below(), size);
}

int log_lock(sqlite3_file* file, int kind) { return ours(file).call().xLock(ours(file).below(), kind); }
int log_unlock(sqlite3_file* file, int kind) { return ours(file).call().xUnlock(ours(file).below(), kind); }
int log_reserved(sqlite3_file* file, int* held) {
  return ours(file).call().xCheckReservedLock(ours(file).below(), held);
}
int log_control(sqlite3_file* file, int what, void* about) {
  return ours(file).call().xFileControl(ours(file).below(), what, about);
}
int log_sector(sqlite3_file* file) { return ours(file).call().xSectorSize(ours(file).below()); }
int log_traits(sqlite3_file* file) { return ours(file).call().xDeviceCharacteristics(ours(file).below()); }

// Shared memory and mapped pages belong to the database file, never to its log.
constexpr sqlite3_io_methods log_methods = {1,           log_close,  log_read,   log_write,  log_truncate,
                                            log_sync,    log_size,   log_lock,   log_unlock, log_reserved,
                                            log_control, log_sector, log_traits, nullptr,    nullptr,
                                            nullptr,     nullptr,    nullptr,    nullptr};

struct Layer {
  sqlite3_vfs vfs;
  sqlite3_vfs* below;
  std::string name;
};

int layer_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* const below = static_cast<Layer*>(vfs->pAppData)->below;
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0) return PageFile::open(below, name, file, flags, out_flags);
  if ((flags & SQLITE_OPEN_WAL) == 0) return below->xOpen(below, name, file, flags, out_flags);
  LogFile& log = *new (file) LogFile;
  log.base.pMethods = nullptr;
  const int code = below->xOpen(below, name, log.below(), flags, out_flags);
  // SQLite closes a file exactly if it has methods.
  if (code == SQLITE_OK) {
    log.path = name;
    log.store = reinterpret_cast<PageFile*>(sqlite3_database_file_object(name));
    log.base.pMethods = &log_methods;
  } else {
    log.~LogFile();
    file->pMethods = nullptr;
  }
  return code;
}

// Everything except opening goes to the file system below, which must receive its own VFS.
sqlite3_vfs* below(sqlite3_vfs* vfs) { return static_cast<Layer*>(vfs->pAppData)->below; }
int layer_delete(sqlite3_vfs* vfs, const char* name, int sync) { return below(vfs)->xDelete(below(vfs), name, sync); }
int layer_access(sqlite3_vfs* vfs, const char* name, int flags, int* answer) {
  return below(vfs)->xAccess(below(vfs), name, flags, answer);
}
int layer_path(sqlite3_vfs* vfs, const char* name, int size, char* full) {
  return below(vfs)->xFullPathname(below(vfs), name, size, full);
}
int layer_random(sqlite3_vfs* vfs, int size, char* bytes) { return below(vfs)->xRandomness(below(vfs), size, bytes); }
int layer_sleep(sqlite3_vfs* vfs, int microseconds) { return below(vfs)->xSleep(below(vfs), microseconds); }
int layer_time(sqlite3_vfs* vfs, double* days) { return below(vfs)->xCurrentTime(below(vfs), days); }
int layer_error(sqlite3_vfs* vfs, int size, char* text) { return below(vfs)->xGetLastError(below(vfs), size, text); }
int layer_time_ms(sqlite3_vfs* vfs, sqlite3_int64* ms) { return below(vfs)->xCurrentTimeInt64(below(vfs), ms); }

}  // namespace

LogProgress::Deferral::Deferral(LogProgress& progress, sqlite3* connection) : progress_(progress) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  if (file == nullptr || file->pMethods != &log_methods) return;
  if (ours(file).progress != &progress) ours(file).use(progress);
  progress.deferring_ = true;
}

LogProgress::Deferral::~Deferral() { progress_.deferring_ = false; }

int LogProgress::sync() {
  if (synced_ >= written_) return SQLITE_OK;
  std::unique_lock lock(mutex_);
  const std::uint64_t wanted = written_;
  while (synced_ < wanted && file_ != nullptr && failed_ == SQLITE_OK) {
    if (syncing_) {
      changed_.wait(lock);
      continue;
    }
    syncing_ = true;
    const std::uint64_t written = written_;
    lock.unlock();
    const int code = file_->call().xSync(file_->below(), file_->sync_flags);
    lock.lock();
    syncing_ = false;
    note(written, code);
  }
  return failed_;
}

int LogProgress::note(std::uint64_t written, int code) {
  if (failed_ == SQLITE_OK) failed_ = code;
  if (failed_ == SQLITE_OK && synced_ < written) synced_ = written;
  changed_.notify_all();
  return failed_;
}

std::int64_t log_end(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
  return file == nullptr || file->pMethods != &log_methods ? 0 : ours(file).end;
}

const char* log_layer() {
  static std::mutex mutex;
  static std::deque<Layer> layers;
  const std::lock_guard lock(mutex);
  sqlite3_vfs* const below = sqlite3_vfs_find(nullptr);
  for (Layer& layer : layers) {
    if (layer.below == below) return layer.name.c_str();
  }
  Layer& layer = layers.emplace_back();
  layer.below = below;
  layer.name = "cairn-log-" + std::to_string(layers.size());
  layer.vfs = {};
  layer.vfs.iVersion = 2;
  layer.vfs.szOsFile = static_cast<int>(std::max(sizeof(LogFile), sizeof(PageFile))) + below->szOsFile;
  layer.vfs.mxPathname = below->mxPathname;
  layer.vfs.zName = layer.name.c_str();
  layer.vfs.pAppData = &layer;
  layer.vfs.xOpen = layer_open;
  layer.vfs.xDelete = layer_delete;
  layer.vfs.xAccess = layer_access;
  layer.vfs.xFullPathname = layer_path;
  layer.vfs.xRandomness = layer_random;
  layer.vfs.xSleep = layer_sleep;
  layer.vfs.xCurrentTime = layer_time;
  layer.vfs.xGetLastError = layer_error;
  layer.vfs.xCurrentTimeInt64 = layer_time_ms;
  sqlite3_vfs_register(&layer.vfs, 0);
  return layer.name.c_str();
}

}  // namespace cairn::sqlite
