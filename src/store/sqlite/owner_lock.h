// The lock of the one process that owns a store's file. The object holds it; the kernel releases it when the process
// dies for any reason.
//
// The lock is on the file itself, so symbolic and hard links reach the same lock. The file `<store>.lock` beside it
// names the owner and records that a store existed here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace cairn::sqlite {

// Identifies a file independent of its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileIdentity&) const = default;
};

class OwnerLock {
 public:
  // ErrorCode::conflict if another process, or another store in this process, owns the file. ErrorCode::not_found if a
  // store existed and its file is missing or empty. The same if its log is missing although the store was not closed.
  // In both cases a new store would hide the loss.
  static Result<OwnerLock> take(const std::string& store_path);
  OwnerLock(OwnerLock&& other) noexcept { swap(other); }
  OwnerLock& operator=(OwnerLock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~OwnerLock();

  // Whether a process owns the store now.
  static bool is_held(const std::string& store_path);

  // Records that the store exists, and whether it was closed with an empty log.
  void remember_open();
  void remember_closed();
  // The locked file; empty if SQLite keeps its files outside the file system (tests).
  const std::optional<FileIdentity>& file() const { return file_; }
  // The real path, with symbolic links resolved.
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
  static void make_private(const std::string& path);

  int note_ = -1;   // `<store>.lock`
  int store_ = -1;  // the file itself
  std::optional<FileIdentity> file_;
  std::string path_;
};

}  // namespace cairn::sqlite
