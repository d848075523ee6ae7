#include "store/sqlite/owner_lock.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <set>

#include "base/log.h"

namespace cairn::sqlite {

namespace {

// SQLite holds locks on the file, and the kernel drops them when this process closes any descriptor of it. So a file
// that a store of this process owns is never opened again.
struct OwnedFiles {
  std::mutex mutex;
  std::set<FileIdentity> files;
};
OwnedFiles& owned_files() {
  static auto* const owned = new OwnedFiles;  // stores may be closed while the process exits
  return *owned;
}

FileIdentity identity_of(const struct stat& found) {
  return {static_cast<std::uint64_t>(found.st_dev), static_cast<std::uint64_t>(found.st_ino)};
}

std::string text_of(const FileIdentity& file) { return std::to_string(file.device) + ":" + std::to_string(file.inode); }

// Tests may keep SQLite's files in memory.
bool files_are_the_systems() {
  const std::string_view name = sqlite3_vfs_find(nullptr)->zName;
  return name.starts_with("unix");
}

std::string read_all(int file) {
  char text[256] = {};
  const ssize_t size = ::pread(file, text, sizeof text - 1, 0);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

Error system_error(const std::string& path, const char* what) {
  return {ErrorCode::unavailable, path + ": " + what + ": " + std::strerror(errno)};
}

Error in_use(const std::string& path, const std::string& note) {
  const std::string pid = note.substr(0, note.find('\n'));
  const std::string who = pid.empty() ? "" : " (process " + pid + ")";
  return {ErrorCode::conflict, path + " is in use by another process" + who +
                                   "; a SQLite store has one owner: stop that process, or talk to it over HTTP"};
}

Error lost(const std::string& path, const std::string& what) {
  return {ErrorCode::not_found, path + ": " + what +
                                    ". Restore it from a backup; to begin a new and empty store "
                                    "instead, remove " +
                                    path + ".lock and " + path + "-wal"};
}

}  // namespace

Result<OwnerLock> OwnerLock::take(const std::string& store_path) {
  OwnerLock lock;
  std::error_code unresolved;
  const auto real = std::filesystem::weakly_canonical(store_path, unresolved);
  lock.path_ = unresolved ? store_path : real.string();
  sqlite3_initialize();
  CAIRN_TRY_VOID(lock.take_note());
  if (!files_are_the_systems()) return lock;
  const std::string left_by = read_all(lock.note_);
  const bool log_is_there = std::filesystem::exists(lock.path_ + "-wal", unresolved);
  const bool was_there = left_by.find("\nstore ") != std::string::npos || log_is_there;
  if (!std::filesystem::exists(lock.path_, unresolved) && was_there) {
    return lost(lock.path_, "there was a store here and its file is gone");
  }
  CAIRN_TRY_VOID(lock.take_store(left_by));
  const bool left_open = lock.file_ && left_by.find("\nstore " + text_of(*lock.file_) + " open\n") != std::string::npos;
  if (left_open && !log_is_there) {
    return Error{ErrorCode::not_found,
                 lock.path_ + ": the store was not closed and its log (" + lock.path_ +
                     "-wal) is gone: what was committed last may be lost. Put the log back. If the file is a restored "
                     "backup, or another program has opened it since, remove " +
                     lock.path_ + ".lock and start again"};
  }
  // The owner's name decides nothing; the record that a store exists does.
  lock.write_note(left_by.find("\nstore ") == std::string::npos ? nullptr : left_open ? "open" : "closed");
  return lock;
}

bool OwnerLock::is_held(const std::string& store_path) {
  std::error_code unresolved;
  const auto real = std::filesystem::weakly_canonical(store_path, unresolved);
  const int note = ::open(((unresolved ? store_path : real.string()) + ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (note < 0) return false;
  const bool held = ::flock(note, LOCK_SH | LOCK_NB) != 0;
  ::close(note);
  return held;
}

// Takes the store's files from other users, e.g. after a copy with another mode. New files have mode 0600 from the
// start.
void OwnerLock::make_private(const std::string& path) {
  for (const char* const end : {"", "-wal", "-shm", ".lock"}) {
    const std::string file = path + end;
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0 || (found.st_mode & (S_IRWXG | S_IRWXO)) == 0) continue;
    if (::chmod(file.c_str(), S_IRUSR | S_IWUSR) == 0) {
      log_warning("store.made_private",
                  {{"file", file}, {"reason", "other users could access it; its mode is 0600 now"}});
    } else {
      log_warning("store.exposed", {{"file", file}, {"reason", "other users may access it; chmod 600"}});
    }
  }
}

Result<void> OwnerLock::take_note() {
  const std::string path = path_ + ".lock";
  note_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (note_ < 0) return system_error(path, "cannot be opened");
  if (::flock(note_, LOCK_EX | LOCK_NB) == 0) return {};
  if (errno != EWOULDBLOCK) return system_error(path, "cannot be locked");
  return in_use(path_, read_all(note_));
}

Result<void> OwnerLock::take_store(const std::string& left_by) {
  struct stat found {};
  const auto owned_here = [&] {
    const std::lock_guard guard(owned_files().mutex);
    return owned_files().files.contains(identity_of(found));
  };
  if (::stat(path_.c_str(), &found) == 0) {
    if (owned_here()) return in_use(path_, std::to_string(::getpid()));
    if (found.st_size == 0 && left_by.find("\nstore ") != std::string::npos) {
      return lost(path_, "there was a store here and its file is empty");
    }
  }
  store_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  // If the file cannot be opened at all, SQLite reports it better.
  if (store_ < 0) return {};
  if (::flock(store_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return in_use(path_, "");
    return system_error(path_, "cannot be locked");
  }
  if (::fstat(store_, &found) != 0) return system_error(path_, "cannot be looked at");
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) make_private(path_);
  file_ = identity_of(found);
  const std::lock_guard guard(owned_files().mutex);
  owned_files().files.insert(*file_);
  if (found.st_nlink > 1) {
    log_warning("store.several_names",
                {{"path", path_}, {"advice", "the log belongs to one name: always open the store by the same one"}});
  }
  return {};
}

void OwnerLock::remember_open() { write_note("open"); }
void OwnerLock::remember_closed() { write_note("closed"); }

// Writes the process and the state of the store for the next owner. It is not synced: after a power failure it may be
// older than the store, and then it claims less.
void OwnerLock::write_note(const char* state) {
  std::string text = std::to_string(::getpid()) + "\n";
  if (state != nullptr && file_) text += "store " + text_of(*file_) + " " + state + "\n";
  const auto size = static_cast<ssize_t>(text.size());
  if (::pwrite(note_, text.data(), text.size(), 0) != size || ::ftruncate(note_, size) != 0) {
    log_warning("store.note_failed", {{"path", path_ + ".lock"}, {"reason", std::strerror(errno)}});
  }
}

OwnerLock::~OwnerLock() {
  if (file_) {
    const std::lock_guard guard(owned_files().mutex);
    owned_files().files.erase(*file_);
  }
  if (store_ >= 0) ::close(store_);
  if (note_ >= 0) ::close(note_);
}

}  // namespace cairn::sqlite
