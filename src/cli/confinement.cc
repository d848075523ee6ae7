#include "cli/confinement.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

// A sanitizer inspects its own process and starts programs to resolve function names, so it cannot be confined.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAIRN_SANITIZED 1
#endif
#if defined(__linux__) && !defined(CAIRN_SANITIZED) && defined(__NR_openat)
#define CAIRN_LANDLOCK 1
#endif

namespace cairn::cli {

#ifdef CAIRN_LANDLOCK
namespace {

// The kernel's interface. It is declared here because the build machine's headers may be older than the kernel at run
// time. The numbers are the same on every architecture.
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;
constexpr std::uint32_t ask_version = 1;
constexpr int rule_path_beneath = 1;

struct RulesetAttributes {
  std::uint64_t handled_access_fs;
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};

constexpr std::uint64_t execute = 1u << 0;
constexpr std::uint64_t write_file = 1u << 1;
constexpr std::uint64_t read_file = 1u << 2;
constexpr std::uint64_t read_dir = 1u << 3;
constexpr std::uint64_t version_1 = (1u << 13) - 1;  // execute to make_sym
constexpr std::uint64_t refer = 1u << 13;            // from version 2 on
constexpr std::uint64_t truncate = 1u << 14;         // from version 3 on
constexpr std::uint64_t ioctl_device = 1u << 15;     // from version 5 on
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate | ioctl_device;

std::uint64_t handled_by(long version) {
  std::uint64_t handled = version_1;
  if (version >= 2) handled |= refer;
  if (version >= 3) handled |= truncate;
  if (version >= 5) handled |= ioctl_device;
  return handled;
}

// Closes the file descriptor on destruction.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Error failed(const std::string& what) {
  return {ErrorCode::internal, "the process cannot be confined: " + what + ": " + std::strerror(errno)};
}

Result<void> allow(int ruleset, const std::string& path, std::uint64_t access) {
  const File file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (file.number() < 0) return {};
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return failed(path);
  const PathBeneath rule{S_ISDIR(status.st_mode) ? access : access & of_files, file.number()};
  if (::syscall(add_rule, ruleset, rule_path_beneath, &rule, 0) != 0) return failed(path);
  return {};
}

}  // namespace

Result<int> confine_files(const ReachableFiles& files) {
  const long version = ::syscall(create_ruleset, nullptr, 0, ask_version);
  if (version < 1) return 0;
  const RulesetAttributes attributes{handled_by(version)};
  const File ruleset(static_cast<int>(::syscall(create_ruleset, &attributes, sizeof attributes, 0)));
  if (ruleset.number() < 0) return 0;
  const std::uint64_t handled = attributes.handled_access_fs;
  for (const std::string& path : files.readable) {
    CAIRN_TRY_VOID(allow(ruleset.number(), path, (read_file | read_dir) & handled));
  }
  for (const std::string& path : files.writable) {
    CAIRN_TRY_VOID(allow(ruleset.number(), path, handled & ~execute));
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("no_new_privs");
  if (::syscall(restrict_self, ruleset.number(), 0) != 0) return 0;
  return static_cast<int>(version);
}

void forbid_memory_dumps() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

#else

Result<int> confine_files(const ReachableFiles&) { return 0; }
void forbid_memory_dumps() {}

#endif

}  // namespace cairn::cli
