#include "base/write_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace cairn {

namespace {

Error system_error(const std::string& path) {
  return {ErrorCode::unavailable, path + ": " + std::generic_category().message(errno)};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Result<void> write_all(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (file.number() < 0) return system_error(path);
  while (!text.empty()) {
    const ssize_t written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.number()) != 0) return system_error(path);
  return {};
}

}  // namespace

Result<void> write_file(const std::string& path, std::string_view text) {
  const std::string draft = path + ".part";
  CAIRN_TRY_VOID(write_all(draft, text));
  if (std::rename(draft.c_str(), path.c_str()) != 0) return system_error(path);
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.number() < 0 || ::fsync(opened.number()) != 0) return system_error(folder);
  return {};
}

}  // namespace cairn
