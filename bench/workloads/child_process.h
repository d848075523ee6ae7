// Another process of this program: a server, a worker, an idle engine. The destructor kills it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace cairn::bench {

class ChildProcess {
 public:
  // Starts `cairn ARGUMENTS…`; returns after its first line of output, which `first_line` holds.
  static Result<ChildProcess> start(const std::vector<std::string>& arguments);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  pid_t id() const { return child_; }
  const std::string& first_line() const { return first_line_; }

 private:
  ChildProcess(pid_t child, int output) : child_(child), output_(output) {}
  pid_t child_;
  int output_;  // kept open, so that the process can continue to write
  std::string first_line_;
};

}  // namespace cairn::bench
