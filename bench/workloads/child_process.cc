#include "workloads/child_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace cairn::bench {

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"cairn-bench"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int told[2];
  if (::pipe2(told, O_CLOEXEC) != 0) return Error{ErrorCode::unavailable, "no pipe"};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(told[1], STDOUT_FILENO);
    ::execv("/proc/self/exe", pointers.data());
    ::_exit(127);
  }
  ::close(told[1]);
  ChildProcess process(child, told[0]);
  char letter = 0;
  while (::read(told[0], &letter, 1) == 1 && letter != '\n') process.first_line_.push_back(letter);
  if (letter != '\n') return Error{ErrorCode::internal, "cairn " + arguments.front() + " did not start"};
  // Its later output is not read. It must not block when the pipe is full.
  ::fcntl(told[0], F_SETFL, O_NONBLOCK);
  ::fcntl(told[0], F_SETPIPE_SZ, 1 << 20);
  return process;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : child_(std::exchange(other.child_, 0)),
      output_(std::exchange(other.output_, -1)),
      first_line_(std::move(other.first_line_)) {}

ChildProcess::~ChildProcess() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (output_ >= 0) ::close(output_);
}

}  // namespace cairn::bench
