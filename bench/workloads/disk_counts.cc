#include "workloads/disk_counts.h"

#include <sqlite3.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/result.h"

namespace cairn::bench {

namespace {

DiskCounts* counts = nullptr;
sqlite3_vfs* below = nullptr;

// SQLite allocates `szOsFile` bytes for a file: ours first, then the system's.
struct CountedFile {
  sqlite3_file base;
  bool is_log;
  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

CountedFile* ours(sqlite3_file* file) { return reinterpret_cast<CountedFile*>(file); }
sqlite3_file* inner(sqlite3_file* file) { return ours(file)->inner(); }

int file_close(sqlite3_file* file) { return inner(file)->pMethods->xClose(inner(file)); }
int file_read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  return inner(file)->pMethods->xRead(inner(file), into, amount, offset);
}
int file_write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  auto& bytes = ours(file)->is_log ? counts->log_bytes : counts->database_bytes;
  bytes.fetch_add(static_cast<std::uint64_t>(amount), std::memory_order_relaxed);
  return inner(file)->pMethods->xWrite(inner(file), from, amount, offset);
}
int file_truncate(sqlite3_file* file, sqlite3_int64 size) {
  return inner(file)->pMethods->xTruncate(inner(file), size);
}
int file_sync(sqlite3_file* file, int flags) {
  counts->syncs.fetch_add(1, std::memory_order_relaxed);
  return inner(file)->pMethods->xSync(inner(file), flags);
}
int file_size(sqlite3_file* file, sqlite3_int64* size) { return inner(file)->pMethods->xFileSize(inner(file), size); }
int file_lock(sqlite3_file* file, int lock) { return inner(file)->pMethods->xLock(inner(file), lock); }
int file_unlock(sqlite3_file* file, int lock) { return inner(file)->pMethods->xUnlock(inner(file), lock); }
int file_reserved(sqlite3_file* file, int* out) { return inner(file)->pMethods->xCheckReservedLock(inner(file), out); }
int file_control(sqlite3_file* file, int op, void* argument) {
  return inner(file)->pMethods->xFileControl(inner(file), op, argument);
}
int file_sector(sqlite3_file* file) { return inner(file)->pMethods->xSectorSize(inner(file)); }
int file_traits(sqlite3_file* file) { return inner(file)->pMethods->xDeviceCharacteristics(inner(file)); }
int file_shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
  return inner(file)->pMethods->xShmMap(inner(file), page, size, extend, out);
}
int file_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}
void file_shm_barrier(sqlite3_file* file) { inner(file)->pMethods->xShmBarrier(inner(file)); }
int file_shm_unmap(sqlite3_file* file, int remove) { return inner(file)->pMethods->xShmUnmap(inner(file), remove); }
int file_fetch(sqlite3_file* file, sqlite3_int64 offset, int amount, void** out) {
  return inner(file)->pMethods->xFetch(inner(file), offset, amount, out);
}
int file_unfetch(sqlite3_file* file, sqlite3_int64 offset, void* page) {
  return inner(file)->pMethods->xUnfetch(inner(file), offset, page);
}

constexpr sqlite3_io_methods methods = {
    3,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_reserved,    file_control,   file_sector,
    file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, file_fetch,
    file_unfetch};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  ours(file)->is_log = (flags & SQLITE_OPEN_WAL) != 0;
  const int code = below->xOpen(below, name, inner(file), flags, out_flags);
  // SQLite closes a file only if it has methods.
  file->pMethods = code == SQLITE_OK ? &methods : nullptr;
  return code;
}

// The shared memory file, inherited by every started process.
constexpr const char* file_variable = "BENCH_DISK_COUNTS";

void count_in(int file) {
  void* shared = ::mmap(nullptr, sizeof(DiskCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CAIRN_ASSERT(shared != MAP_FAILED);
  counts = static_cast<DiskCounts*>(shared);
  below = sqlite3_vfs_find(nullptr);
  static sqlite3_vfs shim = *below;
  shim.zName = "counted";
  shim.szOsFile = static_cast<int>(sizeof(CountedFile)) + below->szOsFile;
  shim.xOpen = open_file;
  CAIRN_ASSERT(sqlite3_vfs_register(&shim, 1) == SQLITE_OK);
}

}  // namespace

DiskCounts& count_disk() {
  if (counts != nullptr) return *counts;
  const int file = ::memfd_create("disk counts", 0);
  CAIRN_ASSERT(file >= 0 && ::ftruncate(file, sizeof(DiskCounts)) == 0);
  count_in(file);
  ::new (counts) DiskCounts;
  ::setenv(file_variable, std::to_string(file).c_str(), 1);
  return *counts;
}

void count_disk_for_parent() {
  if (const char* const file = std::getenv(file_variable)) count_in(std::atoi(file));
}

}  // namespace cairn::bench
