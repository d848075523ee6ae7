#include "store/sqlite/page_file.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "base/log.h"
#include "store/sqlite/page_checksum.h"

namespace cairn::sqlite {

namespace {

constexpr int file_header_bytes = 100;

PageFile& page_file(sqlite3_file* file) { return *reinterpret_cast<PageFile*>(file); }

int page_close(sqlite3_file* file) {
  PageFile& own = page_file(file);
  const int code = own.call().xClose(own.below());
  own.~PageFile();
  return code;
}

int page_read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
  PageFile& own = page_file(file);
  const int code = own.call().xRead(own.below(), into, amount, offset);
  if (code != SQLITE_OK) return code;
  own.end = std::max(own.end, offset + amount);
  auto* const bytes = static_cast<std::uint8_t*>(into);
  if (offset == 0 && amount >= file_header_bytes) own.learn(bytes);
  if (!own.is_page(amount, offset)) return SQLITE_OK;
  const auto number = static_cast<std::uint32_t>(offset / amount + 1);
  const bool wrong = check_page(bytes, own.page_bytes, number) == PageState::damaged;
  if (wrong && !own.is_foreign()) {
    const bool mended = mend_page(bytes, own.page_bytes, number);
    if (!mended && !own.takes_any_page) {
      note_damage("page " + std::to_string(number) + " of " + own.path +
                  " does not match its checksum: the disk or another program changed it");
      return SQLITE_IOERR_DATA;
    }
    if (!own.takes_any_page) {
      log_warning("store.page_repaired",
                  {{"path", own.path},
                   {"page", number},
                   {"advice", "the disk changed one bit; it was put right by its checksum. Check the disk"}});
    }
  }
  // SQLite never sees the checksum, and pages in the log have none. So another program that copies a page from the log
  // to the file leaves a page without a checksum, not one with a wrong checksum.
  std::memset(bytes + own.page_bytes - page_checksum_bytes, 0, page_checksum_bytes);
  return SQLITE_OK;
}

int page_write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
  PageFile& own = page_file(file);
  const auto* const bytes = static_cast<const std::uint8_t*>(from);
  if (offset == 0 && amount >= file_header_bytes) own.learn(bytes);
  if (own.is_page(amount, offset)) {
    own.copy.assign(bytes, bytes + amount);
    seal_page(own.copy.data(), own.page_bytes, static_cast<std::uint32_t>(offset / amount + 1));
    from = own.copy.data();
  }
  const int code = own.call().xWrite(own.below(), from, amount, offset);
  if (code == SQLITE_OK) own.end = std::max(own.end, offset + amount);
  return code;
}

int page_truncate(sqlite3_file* file, sqlite3_int64 size) {
  page_file(file).end = std::min(page_file(file).end, size);
  return page_file(file).call().xTruncate(page_file(file).below(), size);
}

// SQLite ignores a failure here at the end of a checkpoint that a commit started.
int page_sync(sqlite3_file* file, int flags) {
  PageFile& own = page_file(file);
  const int code = own.call().xSync(own.below(), flags);
  if (code != SQLITE_OK) own.sync_failure = code;
  return code;
}

int page_size(sqlite3_file* file, sqlite3_int64* size) {
  return page_file(file).call().xFileSize(page_file(file).below(), size);
}
int page_lock(sqlite3_file* file, int kind) { return page_file(file).call().xLock(page_file(file).below(), kind); }
int page_unlock(sqlite3_file* file, int kind) { return page_file(file).call().xUnlock(page_file(file).below(), kind); }
int page_reserved(sqlite3_file* file, int* held) {
  return page_file(file).call().xCheckReservedLock(page_file(file).below(), held);
}
int page_control(sqlite3_file* file, int what, void* about) {
  return page_file(file).call().xFileControl(page_file(file).below(), what, about);
}
int page_sector(sqlite3_file* file) { return page_file(file).call().xSectorSize(page_file(file).below()); }
// Reads of partial pages would bypass the check.
int page_traits(sqlite3_file* file) {
  return page_file(file).call().xDeviceCharacteristics(page_file(file).below()) & ~SQLITE_IOCAP_SUBPAGE_READ;
}
int page_shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** at) {
  return page_file(file).call().xShmMap(page_file(file).below(), region, size, extend, at);
}
int page_shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return page_file(file).call().xShmLock(page_file(file).below(), offset, count, flags);
}
void page_shm_barrier(sqlite3_file* file) { page_file(file).call().xShmBarrier(page_file(file).below()); }
int page_shm_unmap(sqlite3_file* file, int remove) {
  return page_file(file).call().xShmUnmap(page_file(file).below(), remove);
}

// Without mapped pages (version 3), because those would bypass the check.
constexpr sqlite3_io_methods methods_of(int version) {
  return {version,       page_close,       page_read,      page_write,   page_truncate, page_sync,   page_size,
          page_lock,     page_unlock,      page_reserved,  page_control, page_sector,   page_traits, page_shm_map,
          page_shm_lock, page_shm_barrier, page_shm_unmap, nullptr,      nullptr};
}
constexpr sqlite3_io_methods with_shared_memory = methods_of(2);
constexpr sqlite3_io_methods without_shared_memory = methods_of(1);

}  // namespace

sqlite3_file* PageFile::below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
const sqlite3_io_methods& PageFile::call() { return *below()->pMethods; }

int PageFile::open(sqlite3_vfs* below, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  PageFile& own = *new (file) PageFile;
  own.base.pMethods = nullptr;
  const int code = below->xOpen(below, name, own.below(), flags, out_flags);
  // SQLite closes a file exactly if it has methods.
  if (code != SQLITE_OK) {
    own.~PageFile();
    file->pMethods = nullptr;
    return code;
  }
  if (name != nullptr) own.path = name;
  own.base.pMethods = own.call().iVersion >= 2 ? &with_shared_memory : &without_shared_memory;
  return SQLITE_OK;
}

PageFile* PageFile::of(sqlite3* connection) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || (file->pMethods != &with_shared_memory && file->pMethods != &without_shared_memory)) {
    return nullptr;
  }
  return &page_file(file);
}

bool PageFile::is_page(int amount, sqlite3_int64 offset) {
  constexpr int page_bytes_min = 512;
  if (amount < page_bytes_min || offset % amount != 0) return false;
  if (page_bytes == 0 && offset != 0) {
    std::uint8_t header[file_header_bytes];
    if (call().xRead(below(), header, file_header_bytes, 0) == SQLITE_OK) learn(header);
  }
  return sealed && static_cast<std::size_t>(amount) == page_bytes;
}

bool PageFile::is_foreign() {
  if (foreign == nullptr) return false;
  if (!*foreign && look_for_foreign != nullptr && look_for_foreign(path)) *foreign = true;
  return *foreign;
}

void PageFile::learn(const std::uint8_t* header) {
  constexpr char magic[] = "SQLite format 3";
  if (std::memcmp(header, magic, sizeof magic) != 0) return;
  const std::size_t size = std::size_t{header[16]} << 8 | header[17];
  page_bytes = size == 1 ? 65536 : size;
  sealed = header[20] == page_checksum_bytes;
}

}  // namespace cairn::sqlite
