// Another run of this same program: a server, a worker, an idle engine. Killed with the object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::bench {

class ChildProcess {
 public:
  // `cairn ARGUMENTS…`; gives back once it has written its first line, which `first_line` holds.
  static Result<ChildProcess> start(const std::vector<std::string>& arguments);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t id() const { return child_; }
  const std::string& first_line() const { return first_line_; }

 private:
  ChildProcess(pid_t child, int output) : child_(child), output_(output) {}
  pid_t child_;
  int output_;  // kept open, so that it can go on writing
  std::string first_line_;
};

}  // namespace cairn::bench
