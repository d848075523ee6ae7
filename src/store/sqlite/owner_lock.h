// The one process that owns a store's file. Held as long as the object lives; the kernel gives it
// up when the process dies, however it dies.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace cairn::sqlite {

class OwnerLock {
 public:
  // ErrorCode::conflict when another process owns the file.
  static Result<OwnerLock> take(const std::string& store_path);
  OwnerLock(OwnerLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  OwnerLock& operator=(OwnerLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
  }
  ~OwnerLock();

 private:
  explicit OwnerLock(int file) : file_(file) {}
  int file_;
};

}  // namespace cairn::sqlite
