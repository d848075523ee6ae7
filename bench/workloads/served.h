// A server of this same program in a process of its own, for workloads through the HTTP API, and what each process
// took.
#pragma once

#include <string>
#include <string_view>

#include "workloads/child_process.h"
#include "workloads/workload.h"

namespace cairn::bench {

struct Served {
  Scratch scratch;
  ChildProcess process;
  std::string url;
  std::string host;
  int port = 0;

  // `cairn serve` with one definition on the plan's kind of store.
  static Result<Served> with(const Plan& plan, std::string_view definition);
};

// What the server and the worker (0: there is none) take from now on.
class Shares {
 public:
  Shares(pid_t server, pid_t worker);
  // To the row of the client, this process.
  void add_to(Row& row) const;

 private:
  pid_t server_;
  pid_t worker_;
  ProcessCost server_before_;
  ProcessCost worker_before_;
};

// What came back is not what the workload expects.
Error unexpected(int status, std::string_view text);

}  // namespace cairn::bench
