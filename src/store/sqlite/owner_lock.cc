#include "store/sqlite/owner_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace cairn::sqlite {

Result<OwnerLock> OwnerLock::take(const std::string& store_path) {
  const std::string path = store_path + ".lock";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    return Error{ErrorCode::unavailable, path + ": cannot be opened: " + std::strerror(errno)};
  }
  OwnerLock lock(file);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return Error{ErrorCode::unavailable, path + ": cannot be locked: " + std::strerror(errno)};
    char pid[32] = {};
    const ssize_t size = ::pread(file, pid, sizeof pid - 1, 0);
    const std::string who = size > 0 ? " (process " + std::string(pid, static_cast<std::size_t>(size)) + ")" : "";
    return Error{ErrorCode::conflict, store_path + " is in use by another process" + who +
                                          "; a SQLite store has one owner: stop that process, or talk to it over HTTP"};
  }
  // Only for the message above: who the owner is does not decide anything.
  const std::string pid = std::to_string(::getpid());
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, pid.data(), pid.size(), 0) < 0) {
    return Error{ErrorCode::unavailable, path + ": cannot be written: " + std::strerror(errno)};
  }
  return lock;
}

OwnerLock::~OwnerLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace cairn::sqlite
