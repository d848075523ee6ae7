#include "cli/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>

namespace cairn::cli {
namespace {

// Runs `inside` in a child process and answers its result. A process cannot undo its confinement.
int in_child(const std::function<int()>& inside) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(inside());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool opens(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
  return file >= 0;
}

constexpr int no_landlock = 77;

class Confinement : public testing::Test {
 protected:
  Confinement() {
    std::string pattern = testing::TempDir() + "confinement-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    EXPECT_EQ(::mkdir((folder_ + "/data").c_str(), 0700), 0);
    EXPECT_EQ(::mkdir((folder_ + "/settings").c_str(), 0700), 0);
    EXPECT_TRUE(opens(folder_ + "/settings/key", O_CREAT | O_WRONLY));
    EXPECT_TRUE(opens(folder_ + "/other", O_CREAT | O_WRONLY));
  }
  ~Confinement() override { EXPECT_EQ(std::system(("rm -r " + folder_).c_str()), 0); }

  // The number of the attempt that failed; 0: none failed.
  int attempts() const {
    const auto version = confine_files({{folder_ + "/settings", "/no/such/file"}, {folder_ + "/data"}});
    if (!version) return 1;
    if (*version == 0) return no_landlock;
    if (!opens(folder_ + "/data/new", O_CREAT | O_RDWR)) return 2;
    if (::unlink((folder_ + "/data/new").c_str()) != 0) return 3;
    if (!opens(folder_ + "/settings/key", O_RDONLY)) return 4;
    if (opens(folder_ + "/settings/key", O_WRONLY) || errno != EACCES) return 5;
    if (opens(folder_ + "/settings/new", O_CREAT | O_WRONLY)) return 6;
    if (opens(folder_ + "/other", O_RDONLY)) return 7;
    if (opens("/etc/passwd", O_RDONLY)) return 8;
    ::execl("/bin/true", "true", nullptr);
    return errno == EACCES ? 0 : 9;
  }

  std::string folder_;
};

TEST_F(Confinement, OnlyWhatIsNamedCanBeOpened) {
  const int seen = in_child([this] { return attempts(); });
  if (seen == no_landlock) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(seen, 0);
}

TEST_F(Confinement, MemoryIsNotDumped) {
  const int seen = in_child([] {
    forbid_memory_dumps();
    return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
  });
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_EQ(seen, 1);
#else
  EXPECT_EQ(seen, 0);
#endif
}

}  // namespace
}  // namespace cairn::cli
