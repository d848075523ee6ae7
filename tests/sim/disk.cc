#include "disk.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace cairn::sim {

// The functions that SQLite calls. A handle that was abandoned in a crash is never used again.
struct DiskCalls {
  struct Handle {
    sqlite3_file base;
    Disk* disk;
    std::shared_ptr<Disk::File>* file;  // on the heap: SQLite only gives raw memory
    int level;
    unsigned shm_shared;
    unsigned shm_exclusive;
    bool temporary;
  };
  static Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static Disk::File& file(sqlite3_file* given) { return **handle(given).file; }
  static Disk& disk(sqlite3_vfs* vfs) { return *static_cast<Disk*>(vfs->pAppData); }

  static int close(sqlite3_file* given) {
    unlock(given, SQLITE_LOCK_NONE);
    shm_unmap(given, 0);
    delete handle(given).file;
    return SQLITE_OK;
  }

  static int read(sqlite3_file* given, void* into, int size, sqlite3_int64 offset) {
    const auto& seen = file(given).seen;
    const auto have = std::clamp<std::int64_t>(static_cast<std::int64_t>(seen.size()) - offset, 0, size);
    if (have > 0) std::memcpy(into, seen.data() + offset, static_cast<std::size_t>(have));
    if (have == size) return SQLITE_OK;
    std::memset(static_cast<char*>(into) + have, 0, static_cast<std::size_t>(size - have));
    return SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* given, const void* from, int size, sqlite3_int64 offset) {
    Disk& disk = *handle(given).disk;
    const auto* bytes = static_cast<const std::uint8_t*>(from);
    Disk::Pending change{offset, {bytes, bytes + size}, false};
    if (!handle(given).temporary) {
      if (disk.strikes_(Fault::write_error)) {
        if (disk.dice_.chance(50)) return SQLITE_FULL;
        change.bytes.resize(static_cast<std::size_t>(disk.dice_.below(size)));
        Disk::apply(file(given).seen, change);
        file(given).pending.push_back(std::move(change));
        return SQLITE_IOERR_WRITE;
      }
      if (disk.strikes_(Fault::power_loss)) disk.power_cut_();
    }
    Disk::apply(file(given).seen, change);
    file(given).pending.push_back(std::move(change));
    return SQLITE_OK;
  }

  static int truncate(sqlite3_file* given, sqlite3_int64 size) {
    const Disk::Pending change{size, {}, true};
    Disk::apply(file(given).seen, change);
    file(given).pending.push_back(change);
    return SQLITE_OK;
  }

  static int sync(sqlite3_file* given, int) {
    Disk& disk = *handle(given).disk;
    Disk::File& target = file(given);
    ++disk.syncs_;
    if (disk.strikes_(Fault::power_loss)) disk.power_cut_();
    if (disk.strikes_(Fault::sync_error)) {
      // The kernel forgets that these pages were dirty: they are seen, and never written.
      target.pending.clear();
      return SQLITE_IOERR_FSYNC;
    }
    for (const Disk::Pending& change : target.pending) Disk::apply(target.durable, change);
    target.pending.clear();
    target.synced = true;
    return SQLITE_OK;
  }

  static int size(sqlite3_file* given, sqlite3_int64* into) {
    *into = static_cast<sqlite3_int64>(file(given).seen.size());
    return SQLITE_OK;
  }

  static int lock(sqlite3_file* given, int level) {
    Handle& own = handle(given);
    Disk::File& target = file(given);
    if (own.level >= level) return SQLITE_OK;
    if (level == SQLITE_LOCK_SHARED) {
      if (target.exclusive != nullptr && target.exclusive != &own) return SQLITE_BUSY;
      ++target.shared;
      own.level = level;
      return SQLITE_OK;
    }
    if (target.reserved != nullptr && target.reserved != &own) return SQLITE_BUSY;
    target.reserved = &own;
    if (level == SQLITE_LOCK_RESERVED) {
      own.level = level;
      return SQLITE_OK;
    }
    if (target.exclusive != nullptr && target.exclusive != &own) return SQLITE_BUSY;
    target.exclusive = &own;
    own.level = SQLITE_LOCK_PENDING;
    if (level == SQLITE_LOCK_EXCLUSIVE) {
      if (target.shared > 1) return SQLITE_BUSY;
      own.level = level;
    }
    return SQLITE_OK;
  }

  static int unlock(sqlite3_file* given, int level) {
    Handle& own = handle(given);
    Disk::File& target = file(given);
    if (own.level <= level) return SQLITE_OK;
    if (target.reserved == &own) target.reserved = nullptr;
    if (target.exclusive == &own) target.exclusive = nullptr;
    if (level == SQLITE_LOCK_NONE && own.level >= SQLITE_LOCK_SHARED) --target.shared;
    own.level = level;
    return SQLITE_OK;
  }

  static int check_reserved(sqlite3_file* given, int* answer) {
    *answer = file(given).reserved != nullptr;
    return SQLITE_OK;
  }

  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return 512; }
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static int shm_map(sqlite3_file* given, int region, int bytes, int extend, void volatile** into) {
    Disk::File& target = file(given);
    *into = nullptr;
    while (static_cast<int>(target.shm.size()) <= region) {
      if (extend == 0) return SQLITE_OK;
      target.shm.push_back(std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(bytes)));
    }
    *into = target.shm[static_cast<std::size_t>(region)].get();
    return SQLITE_OK;
  }

  static int shm_lock(sqlite3_file* given, int first, int count, int flags) {
    Handle& own = handle(given);
    Disk::File& target = file(given);
    for (int slot = first; slot < first + count && (flags & SQLITE_SHM_LOCK) != 0; ++slot) {
      const auto at = static_cast<std::size_t>(slot);
      const bool mine = (own.shm_shared >> slot & 1u) != 0;
      if (target.shm_exclusive[at] != nullptr && target.shm_exclusive[at] != &own) return SQLITE_BUSY;
      if ((flags & SQLITE_SHM_EXCLUSIVE) != 0 && target.shm_shared[at] > (mine ? 1 : 0)) return SQLITE_BUSY;
    }
    for (int slot = first; slot < first + count; ++slot) {
      const auto at = static_cast<std::size_t>(slot);
      const unsigned bit = 1u << slot;
      if ((flags & SQLITE_SHM_LOCK) != 0) {
        if ((flags & SQLITE_SHM_EXCLUSIVE) != 0) {
          target.shm_exclusive[at] = &own;
          own.shm_exclusive |= bit;
        } else if ((own.shm_shared & bit) == 0) {
          ++target.shm_shared[at];
          own.shm_shared |= bit;
        }
      } else {
        if ((own.shm_exclusive & bit) != 0) target.shm_exclusive[at] = nullptr;
        if ((own.shm_shared & bit) != 0) --target.shm_shared[at];
        own.shm_exclusive &= ~bit;
        own.shm_shared &= ~bit;
      }
    }
    return SQLITE_OK;
  }

  static void shm_barrier(sqlite3_file*) {}

  static int shm_unmap(sqlite3_file* given, int remove) {
    shm_lock(given, 0, Disk::shm_locks, SQLITE_SHM_UNLOCK);
    if (remove != 0) file(given).shm.clear();
    return SQLITE_OK;
  }

  static int open(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* into, int flags, int* out_flags) {
    static const sqlite3_io_methods methods = {
        2,         close,          read,    write,       truncate,        sync,    size,     lock,
        unlock,    check_reserved, control, sector_size, characteristics, shm_map, shm_lock, shm_barrier,
        shm_unmap, nullptr,        nullptr};
    Disk& own = disk(vfs);
    Handle& made = *new (into) Handle{};
    std::shared_ptr<Disk::File> opened;
    if (name == nullptr) {
      opened = std::make_shared<Disk::File>();
    } else {
      const auto known = own.files_.find(name);
      if (known != own.files_.end()) {
        opened = known->second;
      } else if ((flags & SQLITE_OPEN_CREATE) != 0) {
        opened = own.files_[name] = std::make_shared<Disk::File>();
      } else {
        return SQLITE_CANTOPEN;
      }
    }
    made.disk = &own;
    made.file = new std::shared_ptr<Disk::File>(std::move(opened));
    made.temporary = name == nullptr;
    made.base.pMethods = &methods;
    if (out_flags != nullptr) *out_flags = flags;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* name, int) {
    return disk(vfs).files_.erase(name) == 1 ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
  }
  static int access(sqlite3_vfs* vfs, const char* name, int, int* answer) {
    *answer = disk(vfs).files_.contains(name);
    return SQLITE_OK;
  }
  static int full_path(sqlite3_vfs*, const char* name, int size, char* into) {
    std::strncpy(into, name, static_cast<std::size_t>(size));
    return SQLITE_OK;
  }
  static int randomness(sqlite3_vfs* vfs, int size, char* into) {
    for (int i = 0; i < size; ++i) into[i] = static_cast<char>(disk(vfs).dice_.next());
    return size;
  }
  static int sleep(sqlite3_vfs*, int us) { return us; }
  static int current_time(sqlite3_vfs* vfs, sqlite3_int64* into) {
    constexpr sqlite3_int64 julian_of_1970_ms = 210866760000000;
    *into = julian_of_1970_ms + disk(vfs).clock_.now().unix_ms();
    return SQLITE_OK;
  }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }
};

void Disk::mount(std::function<bool(Fault)> strikes, std::function<void()> power_cut) {
  strikes_ = std::move(strikes);
  power_cut_ = std::move(power_cut);
  vfs_ = std::make_unique<sqlite3_vfs>();
  vfs_->iVersion = 2;
  vfs_->szOsFile = sizeof(DiskCalls::Handle);
  vfs_->mxPathname = 512;
  vfs_->zName = "cairn_sim";
  vfs_->pAppData = this;
  vfs_->xOpen = DiskCalls::open;
  vfs_->xDelete = DiskCalls::remove;
  vfs_->xAccess = DiskCalls::access;
  vfs_->xFullPathname = DiskCalls::full_path;
  vfs_->xRandomness = DiskCalls::randomness;
  vfs_->xSleep = DiskCalls::sleep;
  vfs_->xGetLastError = DiskCalls::last_error;
  vfs_->xCurrentTimeInt64 = DiskCalls::current_time;
  sqlite3_vfs_register(vfs_.get(), 1);
}

Disk::~Disk() {
  if (vfs_) sqlite3_vfs_unregister(vfs_.get());
}

void Disk::apply(std::vector<std::uint8_t>& to, const Pending& change) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (change.truncate) return to.resize(offset);
  if (to.size() < offset + change.bytes.size()) to.resize(offset + change.bytes.size());
  std::copy(change.bytes.begin(), change.bytes.end(), to.begin() + change.offset);
}

// Each sector of each write that was not synced arrived or did not, at the end of a file also as zeros; in any order.
void Disk::lose_power(File& file) {
  constexpr std::size_t sector = 512;
  std::vector<Pending> arrived;
  for (const Pending& change : file.pending) {
    const int fate = dice_.below(4);  // all of it, none of it, or sector by sector
    if (fate == 0) continue;
    if (change.truncate || fate == 1) {
      arrived.push_back(change);
      continue;
    }
    for (std::size_t at = 0; at < change.bytes.size();) {
      const std::size_t end =
          std::min(change.bytes.size(), at + sector - (static_cast<std::size_t>(change.offset) + at) % sector);
      Pending part{change.offset + static_cast<std::int64_t>(at), {}, false};
      part.bytes.assign(change.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                        change.bytes.begin() + static_cast<std::ptrdiff_t>(end));
      // Only where nothing durable was before: a sector that is written over has its old bytes or the new ones.
      const bool fresh = part.offset >= static_cast<std::int64_t>(file.durable.size());
      if (fresh && dice_.chance(10)) std::fill(part.bytes.begin(), part.bytes.end(), std::uint8_t{0});
      if (dice_.chance(60)) arrived.push_back(std::move(part));
      at = end;
    }
  }
  for (std::size_t i = arrived.size(); i > 1; --i) {
    std::swap(arrived[i - 1], arrived[static_cast<std::size_t>(dice_.below(static_cast<int>(i)))]);
  }
  for (const Pending& change : arrived) apply(file.durable, change);
  file.seen = file.durable;
  file.pending.clear();
}

void Disk::crash(bool power_loss) {
  for (auto entry = files_.begin(); entry != files_.end();) {
    if (power_loss && !entry->second->synced && dice_.chance(50)) {
      entry = files_.erase(entry);
      continue;
    }
    // A copy: the handles of the dead keep the old one and can no longer reach this.
    auto survivor = std::make_shared<File>();
    survivor->seen = entry->second->seen;
    survivor->durable = entry->second->durable;
    survivor->pending = entry->second->pending;
    survivor->synced = entry->second->synced;
    if (power_loss) lose_power(*survivor);
    entry->second = std::move(survivor);
    ++entry;
  }
}

}  // namespace cairn::sim
