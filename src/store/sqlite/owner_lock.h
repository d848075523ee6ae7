// The one process that owns a store's file. Held as long as the object lives; the kernel gives it up when the process
// dies, however it dies.
//
// The file itself is locked, whatever name it was opened by: a symbolic or hard link reaches the same lock. The file
// `<store>.lock` beside it says who the owner is, and remembers that there was a store here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace cairn::sqlite {

// What identifies a file whatever its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

class OwnerLock {
 public:
  // ErrorCode::conflict when another process, or another store in this one, owns the file.
  // ErrorCode::not_found when there was a store and its file is gone or empty, or when its log is gone although it was
  // not closed: a new one would hide the loss.
  static Result<OwnerLock> take(const std::string& store_path);
  OwnerLock(OwnerLock&& other) noexcept { swap(other); }
  OwnerLock& operator=(OwnerLock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~OwnerLock();

  // Whether somebody owns the store now.
  static bool is_held(const std::string& store_path);

  // Remembers that the store exists, and whether it was closed with nothing left in its log.
  void remember_open();
  void remember_closed();
  // The file that was locked; nothing when SQLite keeps its files elsewhere than in this system's folders.
  const std::optional<FileIdentity>& file() const { return file_; }
  // Where the file really is, behind symbolic links.
  const std::string& path() const { return path_; }

 private:
  OwnerLock() = default;
  void swap(OwnerLock& other) noexcept {
    std::swap(note_, other.note_);
    std::swap(store_, other.store_);
    std::swap(file_, other.file_);
    std::swap(path_, other.path_);
  }
  Result<void> take_note();
  Result<void> take_store(const std::string& left_by);
  void write_note(const char* state);

  int note_ = -1;   // `<store>.lock`
  int store_ = -1;  // the file itself
  std::optional<FileIdentity> file_;
  std::string path_;
};

}  // namespace cairn::sqlite
